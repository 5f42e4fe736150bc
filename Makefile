# The two commands of the README are `make run` and `make test`; `make help` lists the rest.
CMAKE ?= cmake
MAKEFLAGS += --no-print-directory
JOBS  ?= $(shell nproc)
# Some tests mostly wait: for signals, for ranks, for a browser.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
B     := build
# What `make install` builds: release, or run: the kernels of this machine alone, and no applications.
PRESET ?= release
# A new build folder is Ninja's where that is installed: it starts faster.
ifneq ($(shell command -v ninja),)
export CMAKE_GENERATOR ?= Ninja
endif

# Tests run side by side: threads that wait must not hold a core.
test test-rest tsan coverage: export OMP_WAIT_POLICY = passive

.DEFAULT_GOAL := build
.PHONY: wheels help deps dev-deps build run quick program test test-all test-rest verdicts tsan fuzz check coverage bench docs reference package install clean configure-release configure-run

help:            ## this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

deps:            ## install what a build needs (Debian; with sudo when not root)
	@tools/install-deps build

dev-deps:        ## install what the tests and checks need
	@tools/install-deps build test

configure-release configure-run: configure-%: deps
	@$(CMAKE) --preset $* -DSPRY_BUILD_TESTS=OFF > $(B)-configure.log 2>&1 || { cat $(B)-configure.log; exit 1; }
	@rm -f $(B)-configure.log

build: configure-$(PRESET) ## the libraries, the program and its applications, optimised: build/release/spry
	@$(CMAKE) --build --preset $(PRESET) -j $(JOBS)

program: configure-run ## the program alone, for this machine: build/run/spry
	@$(CMAKE) --build --preset run -j $(JOBS) --target spry

run: program     ## solve a 3D Poisson system and show the result
	@$(B)/run/spry gen poisson3d --size 128 -o $(B)/poisson.spry
	@$(B)/run/spry solve $(B)/poisson.spry --tol 1e-8 -o $(B)/x.mtx

quick:           ## the inner loop: build and the tests of the rooms that changed, or of ROOMS="io krylov"
	@tools/quick $(ROOMS)

test: dev-deps   ## build and run the tests; sanitizers where input is read and where calls fail
	$(CMAKE) --preset test
	$(CMAKE) --build --preset test -j $(JOBS)
	cd $(B)/test && ctest --output-on-failure -j $(TEST_JOBS)

test-all: test verdicts test-rest wheels ## test, then all that it leaves out

# Shares of 25,000 systems, from the first number that is named on: docs/testing.md.
VERDICTS ?= 100000
VERDICTS_FROM ?= 0
verdicts: dev-deps ## verdicts on VERDICTS random systems, against 113-bit arithmetic
	$(CMAKE) --preset test
	$(CMAKE) --build --preset test -j $(JOBS) --target test_reference
	seq $(VERDICTS_FROM) 25000 $$(($(VERDICTS_FROM) + $(VERDICTS) - 1)) | xargs -P $(JOBS) -I{} \
	    env SPRY_VERDICTS=25000 SPRY_VERDICTS_FROM={} $(B)/test/tests/test_reference verdicts

# The tests that make test ran with sanitizers have the label sanitized.
test-rest: dev-deps ## what test leaves out: all under sanitizers, types d and c on devices, Octave's package, SciPy's, MPICH, a browser, the installed package
	$(CMAKE) --preset asan
	$(CMAKE) --build --preset asan -j $(JOBS)
	cd $(B)/asan && SPRY_TEST_TYPES=dc ctest --output-on-failure -j $(TEST_JOBS) -LE '^sanitized$$'
	tools/test-install $(B)/install-test

wheels: dev-deps ## the Python wheel, installed in a fresh environment for each Python here
	CMAKE_ARGS=-DSPRY_ISA=native TESTS=quick tools/wheels $(B)/wheels || [ $$? = 77 ]

tsan: dev-deps   ## the tests under the thread sanitizer
	$(CMAKE) --preset tsan
	$(CMAKE) --build --preset tsan -j $(JOBS)
	cd $(B)/tsan && ../../tools/with-archer ctest --output-on-failure -j $(JOBS)

FUZZ_SECONDS ?= 600
fuzz: dev-deps   ## every fuzzer for FUZZ_SECONDS
	$(CMAKE) --preset fuzz
	$(CMAKE) --build --preset fuzz -j $(JOBS)
	tools/fuzz-all $(B)/fuzz $(FUZZ_SECONDS)

check: dev-deps  ## format, includes, links, reference, symbols, clang-tidy, cppcheck
	tools/check

coverage: dev-deps ## line coverage of src/, at least 85%
	$(CMAKE) --preset coverage
	$(CMAKE) --build --preset coverage -j $(JOBS)
	cd $(B)/coverage && ctest --output-on-failure -j $(JOBS)
	# kernel.h defines each word twice, for real and complex: gcovr cannot merge the two
	gcovr -r . --object-directory $(B)/coverage --filter 'src/' --gcov-exclude '.*kernel\.h.*' --print-summary \
	    --fail-under-line 85 -o $(B)/coverage.txt
	@tail -n 4 $(B)/coverage.txt

bench: dev-deps  ## reading, products, conjugate gradients and all methods, against the peers that are installed
	$(CMAKE) --preset bench
	$(CMAKE) --build --preset bench -j $(JOBS)
	bench/read.sh $(B)/bench
	bench/spmv.sh $(B)/bench
	bench/spgemm.sh $(B)/bench
	bench/cg.sh $(B)/bench
	[ -z "$$SPRY_MATRICES" ] || bench/methods.sh $(B)/bench $(B)/methods.tsv

docs: build      ## the tables of docs/methods.md and docs/doctor.md and the picture of docs/notation.md, from the program
	docs/update-methods.sh $(B)/release/spry
	$(B)/release/spry plot sweeps cg -o docs/pictures/sweeps.svg
	docs/update-doctor.py $(B)/release/spry

reference: dev-deps ## pages of every call, from the headers: build/docs/html/index.html
	tools/reference

package: build   ## a .deb in build/release
	cd $(B)/release && cpack -G DEB

# The cache of the dynamic linker is root's; README.md says what other prefixes need.
install: build   ## into PREFIX (default /usr/local); PRESET=run: for this machine alone, without applications
	$(CMAKE) --install $(B)/$(PRESET) --prefix $(or $(PREFIX),/usr/local)
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

clean:           ## remove what was built
	rm -rf $(B)
