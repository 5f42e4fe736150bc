"""The page of `spry serve` in a browser: python3 browser.py SPRY [TEST ...]. One server, one browser, small matrices.

What is looked at is what a person sees: texts, pictures as pixels, the focus. What the page has said to the browser's
console, where a script fails or the content policy refuses something, is looked at in the end."""

import csv
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import client
import webdriver

SPRY = ""
HOSTILE = ['<img src=x onerror="window.hurt=1">.mtx', "a\"b'c&amp;.mtx", "-o.mtx", "$(touch hurt).mtx", "\u202egpj.mtx", "%2e%2e%2fup.mtx", "javascript:window.hurt=1.mtx"]
SHOWN = [name.replace("\u202e", "\\u202e") for name in HOSTILE]


def write_ones(path, n):
    """A * ones for the five-point matrix of an n x n grid."""
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix array real general\n{n * n} 1\n")
        file.writelines(f"{(i in (0, n - 1)) + (k in (0, n - 1))}\n" for i in range(n) for k in range(n))


class Served(client.Server):
    """`spry serve` on a folder with small matrices."""

    def __init__(self):
        self.place = tempfile.TemporaryDirectory(prefix="spry-page-", ignore_cleanup_errors=True)
        folder = os.path.join(self.place.name, "here")
        os.mkdir(folder)
        client.write_poisson(os.path.join(folder, "easy.mtx"), 10)
        client.write_poisson(os.path.join(folder, "slow.mtx"), 40)
        write_ones(os.path.join(folder, "b.mtx"), 10)
        super().__init__(SPRY, self.place.name, sign_in=False)

    def path(self, name):
        return os.path.join(self.folder, name)

    def address(self):
        """With an unused token: the last one that was printed."""
        return self.urls[-1]

    def close(self):
        try:
            with self:
                pass
        finally:
            self.place.cleanup()


def setUpModule():
    global served, browser, home
    served = Served()
    try:
        home = served.address().partition("?")[0]
        browser = webdriver.Browser(downloads=served.place.name)
        browser.go(served.address())
    except BaseException:
        served.close()
        raise


def tearDownModule():
    browser.close()
    served.close()


def contrast(one, other):
    """Of two colours #rrggbb, by the W3C's formula (WCAG 2.1, contrast ratio)."""
    def light(colour):
        parts = [int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


class Page(unittest.TestCase):
    def setUp(self):
        browser.script("history.replaceState(null, '', '/');")  # no file is chosen
        browser.reload()
        browser.wait("document.querySelectorAll('#files button').length > 0 && document.querySelectorAll('#method option').length > 5")

    # --- words for what a person does ------------------------------------------------------------

    def choose(self, name):
        browser.wait("[...document.querySelectorAll('#files button')].some((b) => b.dataset.name === arguments[0])", name)
        browser.script("[...document.querySelectorAll('#files button')].find((b) => b.dataset.name === arguments[0]).click();", name)
        browser.wait("document.getElementById('matrix-name').textContent === arguments[0] && !document.getElementById('advice').textContent.includes('…')", name.replace("\u202e", "\\u202e"))

    def set(self, field, value):
        browser.script("const f = document.getElementById(arguments[0]); f.value = arguments[1];"
                       "f.dispatchEvent(new Event('input', {bubbles: true})); f.dispatchEvent(new Event('change', {bubbles: true}));", field, value)

    def newest(self):
        return browser.script("return Math.max(0, ...[...document.querySelectorAll('.job')].map((j) => Number(j.dataset.id)));")

    def begin(self, button="do-solve"):
        before = self.newest()
        browser.find(f"#{button}").click()
        return browser.wait(f"[...document.querySelectorAll('.job')].map((j) => Number(j.dataset.id)).find((id) => id > {before})")

    def state(self, job):
        return browser.text(f".job[data-id='{job}'] .state")

    def ends(self, job, state):
        browser.wait("['converged', 'not converged', 'done', 'failed', 'cancelled'].includes(document.querySelector(arguments[0])?.textContent)",
                     f".job[data-id='{job}'] .state", seconds=60)
        self.assertEqual(self.state(job), state, browser.text(f".job[data-id='{job}'] .line-of"))

    def solve(self, name, method, precon):
        self.choose(name)
        self.set("method", method)
        self.set("precon", precon)
        return self.begin()

    def begin_slow(self):
        """A solve that goes on until it is cancelled: damped so much that the residual needs a million iterations."""
        self.choose("slow.mtx")
        self.set("method", "jacobi")
        self.set("precon", "jacobi")
        browser.script("document.querySelector('#method-options [data-option=omega]').value = '0.02';")
        self.set("tol", "1e-15")
        self.set("max-iter", "100000000")
        job = self.begin()
        self.addCleanup(browser.script, "return fetch(`/api/jobs/${arguments[0]}`, {method: 'DELETE', headers: {'X-Spry': '1'}}).then(() => null);", job)  # the next test's jobs would wait
        self.assertIn("--method=jacobi:omega=0.02", browser.text(f".job[data-id='{job}'] code"))
        browser.wait(f"document.querySelector('.job[data-id=\"{job}\"] .state').textContent === 'runs'")
        return job

    def cancel(self, job):
        browser.find(f".job[data-id='{job}'] button[aria-label='Cancel job {job}']").click()
        self.ends(job, "cancelled")

    def record(self, job):
        return browser.script("const r = new XMLHttpRequest(); r.open('GET', `/api/jobs/${arguments[0]}`, false); r.send(); return JSON.parse(r.responseText);", job)

    # --- tests -----------------------------------------------------------------------------------

    def test_upload(self):
        """By the button, by dropping, and over a file that is there: kept, and replaced."""
        path = os.path.join(served.place.name, "up.mtx")
        with open(served.path("easy.mtx"), "rb") as file:
            text = file.read()
        with open(path, "wb") as file:
            file.write(text)
        browser.find("#upload").type(path)
        browser.wait("document.getElementById('matrix-name').textContent === 'up.mtx' && !document.getElementById('advice').textContent.includes('…')")
        with open(served.path("up.mtx"), "rb") as file:
            self.assertEqual(file.read(), text)
        with open(path, "wb") as file:
            file.write(b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n")
        for answer, size in (("no", len(text)), ("yes", os.path.getsize(path))):
            browser.find("#upload").type(path)
            browser.wait("document.getElementById('sure').open")
            browser.find(f"#sure button[value={answer}]").click()
            browser.wait_for(lambda: os.path.getsize(served.path("up.mtx")) == size, f"a file of {size} bytes")
        browser.script("const all = new DataTransfer(); all.items.add(new File([arguments[0]], 'dropped.mtx'));"
                       "for (const kind of ['dragover', 'drop']) document.body.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: all}));",
                       text.decode())
        browser.wait("document.getElementById('matrix-name').textContent === 'dropped.mtx'")
        with open(served.path("dropped.mtx"), "rb") as file:
            self.assertEqual(file.read(), text)
        self.assertEqual([name for name in os.listdir(served.folder) if "part" in name], [])

    def test_picture(self):
        """Where entries are, as pixels: five diagonals are a small part, and they are there; and what the matrix is."""
        self.choose("easy.mtx")
        browser.wait("document.getElementById('spy').complete && document.getElementById('spy').naturalWidth > 0")
        browser.wait("document.getElementById('facts').textContent.includes('460')")
        self.assertIn("460 entries", browser.script("return document.getElementById('spy').alt;"))
        self.assertIn("symmetric", browser.text("#facts"))
        share = browser.find("#spy").picture().marked()
        self.assertTrue(0.01 < share < 0.6, share)

    def test_bad_file(self):
        """Said with its place, and the doctor can still be asked."""
        with open(served.path("bad.mtx"), "w", encoding="ascii") as file:
            file.write("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n")
        browser.reload()
        self.choose("bad.mtx")
        browser.wait("!document.getElementById('matrix-wrong').hidden")
        self.assertIn("3", browser.text("#matrix-wrong"))
        browser.wait("document.getElementById('spy-figure').hidden")
        os.remove(served.path("bad.mtx"))

    def test_doctor(self):
        with open(served.path("ill.mtx"), "w", encoding="ascii") as file:
            file.write("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 1\n2 3 1\n")
        browser.reload()
        self.choose("ill.mtx")
        browser.find("#ask-doctor").click()
        browser.wait("document.querySelector('#findings .finding.error')", seconds=60)
        self.assertIn("zero-rows", browser.text("#findings"))
        self.assertIn("--method lsmr", browser.text("#findings"))
        browser.reload()  # what was found is not asked for again
        browser.wait("document.querySelector('#findings .finding.error')")

    def test_solve(self):
        """From the form to x, its command and its record."""
        self.choose("easy.mtx")
        self.set("rhs", "b.mtx")
        self.set("tol", "1e-9")
        job = self.solve("easy.mtx", "cg", "jacobi")
        self.ends(job, "converged")
        record = self.record(job)
        self.assertEqual((record["rhs"], record["result"]["method"], record["result"]["precon"], record["result"]["tolerance"]), ("b.mtx", "cg", "jacobi", 1e-9))
        command = browser.text(f".job[data-id='{job}'] code")
        self.assertEqual(command, record["command"])
        self.assertTrue(command.startswith("spry solve easy.mtx b.mtx --method=cg --precon=jacobi --tol=1e-09"), command)
        self.assertIn(f"after {record['result']['iterations']} iterations", browser.text(f".job[data-id='{job}'] .line-of"))
        browser.find(f".job[data-id='{job}'] summary").click()
        browser.wait(f"document.querySelector('.job[data-id=\"{job}\"] .record dl')?.textContent.includes('jacobi')")
        browser.find(f".job[data-id='{job}'] a[download]").click()
        before = set(os.listdir(served.place.name))
        name = browser.wait_for(lambda: next((n for n in os.listdir(served.place.name) if n.endswith("x.mtx")), None), f"x next to {before}")
        with open(os.path.join(served.place.name, name), encoding="ascii") as file:
            numbers = [float(line) for line in file if line[0] not in "%" and len(line.split()) == 1]
        self.assertEqual(len(numbers), 100)  # b is A * ones: |x - 1| <= cond(A) tol |x|, and cond(A) < 50 for ten points a side
        self.assertLess(max(abs(x - 1) for x in numbers), 50 * 1e-9 * 10)

    def test_wrong_fields(self):
        self.choose("easy.mtx")
        before = self.newest()
        for field, value in (("tol", "2"), ("tol", "small"), ("max-iter", "1.5"), ("max-iter", "0")):
            self.set(field, value)
            browser.find("#do-solve").click()
            browser.wait("!document.getElementById('form-wrong').hidden")
            self.assertIn(value, browser.text("#form-wrong"))
            self.assertEqual(browser.script("return document.activeElement.id;"), field)
            self.set(field, "")
        self.assertEqual(self.newest(), before)

    def test_plan_and_tune(self):
        """Those that this spry has; what they found is opened by itself."""
        self.choose("easy.mtx")
        for kind in ("tune", "plan"):
            if browser.script(f"return document.getElementById('do-{kind}').hidden;"):
                continue
            job = self.begin(f"do-{kind}")
            self.ends(job, "done")
            browser.wait(f"document.querySelector('.job[data-id=\"{job}\"] .record').open && document.querySelectorAll('.job[data-id=\"{job}\"] .record td, .job[data-id=\"{job}\"] .record dd').length > 4")

    def test_compare(self):
        """Two runs over each other: two lines of different colours, the figures of both, and a picture to keep."""
        jobs = [self.solve("easy.mtx", "cg", precon) for precon in ("none", "jacobi")]
        for job in jobs:
            self.ends(job, "converged")
        browser.wait("document.querySelectorAll('#chart path.line').length >= 2 && [...document.querySelectorAll('#chart path.line')].every((p) => p.getAttribute('d').length > 30)")
        classes = browser.script("return [...document.querySelectorAll('#chart path.line')].map((p) => p.getAttribute('class'));")
        self.assertEqual(len(set(classes)), len(classes))
        legend = browser.script("return [...document.querySelectorAll('#legend li')].map((l) => [l.textContent, l.querySelector('line').getAttribute('class')]);")
        self.assertEqual([line for _, line in legend], [line.split()[-1] for line in classes])
        self.assertTrue({f"{jobs[0]} cg + none", f"{jobs[1]} cg + jacobi"} <= {label for label, _ in legend}, legend)
        rows = browser.script("return [...document.querySelectorAll('#compare tbody tr')].map((r) => [...r.cells].map((c) => c.textContent));")
        for job in jobs:
            result = self.record(job)["result"]
            row = next(row for row in rows if row[0] == str(job))
            self.assertEqual(row[1:5], [result["method"], result["precon"], "converged", str(result["iterations"])])
        for job in jobs[1:]:  # out of the picture, and in again
            browser.find(f".job[data-id='{job}'] .tick input").click()
            browser.wait(f"document.querySelectorAll('#chart path.line').length === {len(classes) - 1}")
            browser.find(f".job[data-id='{job}'] .tick input").click()
            browser.wait(f"document.querySelectorAll('#chart path.line').length === {len(classes)}")
        kept = browser.script("const r = new XMLHttpRequest(); r.open('GET', document.getElementById('chart-file').href, false); r.send(); return [r.status, r.responseText];")
        self.assertEqual(kept[0], 200)
        self.assertGreaterEqual(kept[1].count('class="line'), 2)
        browser.find(f".job[data-id='{jobs[0]}'] button[aria-label='Forget job {jobs[0]}']").click()
        browser.wait("document.getElementById('sure').open")
        browser.find("#sure button[value=yes]").click()
        browser.wait(f"!document.querySelector('.job[data-id=\"{jobs[0]}\"]') && document.querySelectorAll('#chart path.line').length === {len(classes) - 1}")

    def cells(self, job=None):
        """The table of runs by rows, or the row of a job by the heads of its columns."""
        rows = browser.script("return [...document.querySelectorAll('#compare tbody tr')].map((r) => [...r.cells].map((c) => c.textContent));")
        heads = browser.script("return [...document.querySelectorAll('#compare thead th')].map((c) => c.textContent);")
        return rows if job is None else next(dict(zip(heads, row)) for row in rows if row[0] == str(job))

    def test_table(self):
        """Sorted by a column and by it the other way round; saved with all digits; what is in the picture chosen there, too."""
        jobs = [self.solve("easy.mtx", method, precon) for method, precon in (("cg", "none"), ("cg", "ic"), ("minres", "jacobi"))]
        for job in jobs:
            self.ends(job, "converged")
        self.set("max-iter", "3")
        jobs.append(self.begin())
        self.ends(jobs[-1], "not converged")
        self.set("max-iter", "")
        own = {str(job): self.record(job)["result"] for job in jobs}

        def order(column):
            browser.script("[...document.querySelectorAll('#compare thead button')].find((b) => b.textContent === arguments[0]).click();", column)
            return [row[0] for row in self.cells() if row[0] in own]

        def sort_of(column):
            return browser.script("return [...document.querySelectorAll('#compare thead th')].find((t) => t.textContent === arguments[0]).ariaSort;", column)

        up = order("iterations")
        self.assertEqual(sort_of("iterations"), "ascending")
        self.assertEqual([own[job]["iterations"] for job in up], sorted(r["iterations"] for r in own.values()))
        down = order("iterations")
        self.assertEqual(sort_of("iterations"), "descending")
        self.assertEqual([own[job]["iterations"] for job in down], sorted((r["iterations"] for r in own.values()), reverse=True))
        residuals = [own[job]["true_residual"] for job in order("true residual")]
        self.assertEqual(residuals, sorted(residuals))
        methods = [own[job]["method"] for job in order("method")]
        self.assertEqual(methods, sorted(methods))
        browser.find("#runs-csv").click()
        path = os.path.join(served.place.name, "runs.csv")
        browser.wait_for(lambda: os.path.exists(path), "runs.csv")
        with open(path, encoding="utf-8", newline="") as file:
            saved = list(csv.DictReader(file))
        os.remove(path)
        self.assertEqual([row["id"] for row in saved], [row[0] for row in self.cells()])
        for row in saved:
            if row["id"] in own:
                result = own[row["id"]]
                self.assertEqual([row["file"], row["method"], row["precon"], row["converged"]], ["easy.mtx", result["method"], result["precon"], str(result["converged"]).lower()])
                self.assertEqual([float(row[key]) for key in ("iterations", "residual", "true_residual", "solve_seconds", "memory_bytes")],
                                 [result[key] for key in ("iterations", "residual", "true_residual", "solve_seconds", "memory_bytes")])
                self.assertEqual(row["command"], self.record(row["id"])["command"])
        lines = browser.script("return document.querySelectorAll('#chart path.line').length;")
        box = f"#compare input[aria-label='Run {jobs[-1]} in the picture']"
        self.assertTrue(browser.script("return document.querySelector(arguments[0]).checked;", box))
        browser.find(box).click()
        browser.wait(f"document.querySelectorAll('#chart path.line').length === {lines - 1}")
        self.assertEqual(browser.script("return document.activeElement.ariaLabel;"), f"Run {jobs[-1]} in the picture")  # the focus stays
        browser.find(box).click()
        browser.wait(f"document.querySelectorAll('#chart path.line').length === {lines}")

    def test_csv_is_text(self):
        """A name that a spreadsheet would compute, quotes and commas, a number that is not known."""
        text = browser.script("return import('/table.js').then(({RunTable}) => { const table = Object.create(RunTable.prototype);"
                              "Object.assign(table, {by: 'id', descending: true, runs: [{id: 1, file: '=cmd()\\u0027,\"x\".mtx', residual: NaN, iterations: 7}, {id: 2, file: '-1'}]});"
                              "return table.csv(); });")
        rows = list(csv.DictReader(text.splitlines()))
        self.assertEqual([(row["id"], row["file"], row["residual"], row["iterations"]) for row in rows],
                         [("2", "'-1", "", ""), ("1", "'=cmd()',\"x\".mtx", "", "7")])

    def test_seconds(self):
        """The same residuals over seconds: from the end of set-up to the end of the solve, as the record has them."""
        job = self.solve("easy.mtx", "cg", "none")
        self.ends(job, "converged")
        result = self.record(job)["result"]
        browser.find("#scale [value=seconds]").click()
        browser.wait("document.querySelector('#chart svg').textContent.includes('with set-up')")
        self.assertEqual(browser.script("return [...document.querySelectorAll('#scale button')].map((b) => b.ariaPressed);"), ["false", "true"])
        timed = browser.script("return import('/clock.js').then(({Clock}) => { const [lines, points, summary] = arguments[0]; const clock = new Clock();"
                               "lines.forEach((line) => clock.take(line)); return clock.timed(points, summary); });",
                               [[{"phase": "read", "iteration": 0, "seconds": 0.5}, {"phase": "setup", "iteration": 0, "seconds": 1.0},
                                 {"phase": "iterate", "iteration": 2, "seconds": 4.0}, {"phase": "iterate", "iteration": 2, "seconds": 4.0}],
                                [[k, 0.5**k] for k in range(5)], {"choose_seconds": 0.5, "setup_seconds": 1.5, "solve_seconds": 5.0}])
        # iterations begin at 0.5 + 1.5, the second is 4 - 1 after the file was read, the fourth is the end, at 7
        self.assertEqual([at for at, _ in timed], [2.0, 2.5, 3.0, 5.0, 7.0])
        self.assertEqual([r for _, r in timed], [0.5**k for k in range(5)])
        browser.wait(f"[...document.querySelectorAll('#chart .dot')].length > 0 && {result['iterations']} > 0")
        browser.find("#scale [value=iterations]").click()
        browser.wait("!document.querySelector('#chart svg').textContent.includes('with set-up')")

    def test_zoom(self):
        """The wheel and keys zoom, dragging moves, a double click and a button show all: in the chart, and in the picture of A."""
        self.ends(self.solve("easy.mtx", "cg", "none"), "converged")
        ticks = "[...document.querySelectorAll('#chart text[text-anchor=middle]')].map((t) => parseFloat(t.textContent)).filter((v) => v >= 0)"
        all_ticks = browser.wait(f"{ticks}.length > 2 && {ticks}")
        span = lambda: (lambda seen: (max(seen) - min(seen), min(seen)))(browser.script(f"return {ticks};"))
        browser.wheel("#chart", -400)
        browser.wait(f"!document.getElementById('chart-all').hidden && Math.max(...{ticks}) - Math.min(...{ticks}) < {max(all_ticks) - min(all_ticks)}")
        near = span()
        self.assertLess(near[0], max(all_ticks) - min(all_ticks))
        self.assertGreater(near[1], min(all_ticks))
        browser.mouse("#chart", (-150, 0), (-300, 0))  # to what is further right
        browser.wait(f"Math.min(...{ticks}) > {near[1]}")
        browser.script("document.getElementById('chart').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}));")
        browser.wait("document.getElementById('chart-all').hidden")
        browser.wait(f"JSON.stringify({ticks}) === JSON.stringify(arguments[0])", all_ticks)
        browser.script("document.getElementById('chart').focus();")
        browser.key("+")
        browser.key("+")
        browser.key("Right")
        browser.wait("!document.getElementById('chart-all').hidden")
        browser.find("#chart-all").click()
        browser.wait("document.getElementById('chart-all').hidden")
        self.assertEqual(browser.script("return document.activeElement.id;"), "chart")
        # of a part of the picture, more cells are drawn
        part = "document.getElementById('spy').style.transform"
        browser.wait("document.getElementById('spy').src.includes('size=600')")
        browser.wheel("#spy-frame", -400)
        browser.wait(part)
        browser.wheel("#spy-frame", -400)
        browser.wait("/size=(1200|2400|4096)&/.test(document.getElementById('spy').src)")
        moved = browser.script(f"return {part};")
        browser.mouse("#spy-frame", (-60, -60))
        browser.wait(f"{part} !== arguments[0]", moved)
        browser.script("document.getElementById('spy-frame').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}));")
        browser.wait(f"{part} === '' && document.getElementById('spy').src.includes('size=600')")
        # nothing to zoom out of: the wheel is the page's
        before = browser.script("scrollTo(0, 0); return scrollY;")
        browser.wheel("#spy-frame", 300)
        browser.wait(f"scrollY > {before}")

    def test_live(self):
        """A solve under way: its curve grows, a reload and a second tab have all of it, who cancels it is seen by both."""
        job = self.begin_slow()
        point = f"Number(document.querySelector('#chart svg').getAttribute('aria-label').match(/ {job} jacobi[^;]* after (\\d+) iterations/)?.[1] ?? 0)"
        first_tab = browser.tab()
        has_progress = b"--progress" in subprocess.run([SPRY, "help", "solve"], stdout=subprocess.PIPE, check=True, env=client.environment(served.place.name)).stdout
        if has_progress:
            first = browser.wait(f"{point}", seconds=60)
            browser.wait(f"{point} > {first}")
            browser.reload()
            browser.wait(f"document.querySelector('#chart svg') && {point} > {first}")
            self.assertGreater(browser.script("return (document.querySelector('#chart path.line').getAttribute('d').match(/[ML]/g) ?? []).length;"), 1)
            self.assertIn("iteration", browser.text(f".job[data-id='{job}'] .line-of"))
            row = self.cells(job)  # the true residual is not known before the end
            self.assertEqual((row["true residual"], row["ended"]), ("-", "runs"))
            self.assertRegex(row["residual"], r"^\d\.\d\de-?\d+$")
            first = browser.script("document.querySelector('#scale [value=seconds]').click(); return document.querySelector('#chart path.line').getAttribute('d');")
            browser.wait("document.querySelector('#chart svg').textContent.includes('with set-up') && document.querySelector('#chart path.line').getAttribute('d') !== arguments[0]", first)
        else:
            browser.reload()
        browser.wait(f"document.querySelector('.job[data-id=\"{job}\"] .state')?.textContent === 'runs'")
        self.assertEqual(browser.text("#matrix-name"), "slow.mtx")
        waiting = self.begin()  # one at a time: this one waits
        browser.wait(f"document.querySelector('.job[data-id=\"{waiting}\"] .state').textContent === 'waits'")
        browser.new_tab()
        browser.go(browser_address("slow.mtx"))
        browser.wait(f"document.querySelector('.job[data-id=\"{job}\"] .state')?.textContent === 'runs'")
        if has_progress:
            browser.wait(point)
        self.cancel(waiting)
        self.cancel(job)
        browser.close_tab()
        browser.to_tab(first_tab)
        self.ends(job, "cancelled")

    def test_text(self):
        """The sweeps change as the method's text does; what is wrong is reported with its place; the solve takes the text."""
        self.choose("easy.mtx")
        self.set("method", "cg")
        self.set("precon", "none")
        browser.find("#own summary").click()
        browser.wait("document.getElementById('text').value.includes('alpha') && document.getElementById('sweeps').textContent.includes('sweep 1')")
        browser.wait("document.getElementById('sweeps-picture').naturalWidth > 0")
        before = browser.text("#sweeps")
        text = browser.script("return document.getElementById('text').value;")
        self.assertIn("x = x + alpha p", text)
        self.set("text", text.replace("x = x + alpha p", "x = x + alpha ("))
        browser.wait("document.getElementById('text').getAttribute('aria-invalid') === 'true'")
        self.assertRegex(browser.text("#text-said"), r"\d")
        self.assertEqual(browser.text("#sweeps"), before)  # those of the last text that was understood
        self.set("text", text.replace("x = x + alpha p", "t = alpha p; x = x + t"))
        browser.wait("document.getElementById('text').getAttribute('aria-invalid') === 'false' && document.getElementById('sweeps').textContent !== arguments[0]", before)
        job = self.begin()
        self.ends(job, "converged")
        self.assertIn("--method-file", browser.text(f".job[data-id='{job}'] code"))
        browser.find("#text-back").click()
        browser.wait("document.getElementById('sweeps').textContent === arguments[0]", before)

    def test_report(self):
        """Opened in a tab of its own, with pictures that show something."""
        self.choose("easy.mtx")
        self.set("method", "cg")
        self.set("precon", "jacobi")
        job = self.begin("do-report")
        self.ends(job, "done")
        first, before = browser.tab(), set(browser.tabs())
        browser.find(f".job[data-id='{job}'] a[href$='/report']").click()
        browser.to_tab(browser.wait_for(lambda: next(iter(set(browser.tabs()) - before), None), "a new tab"))
        browser.wait("document.querySelectorAll('svg.pic').length >= 4")
        self.assertIn("easy.mtx", browser.text("h1") + browser.text("body"))
        marked = browser.find("svg.spy").picture().marked()
        self.assertTrue(0.01 < marked < 0.6, marked)
        browser.script("[...document.querySelectorAll('svg.pic')].find((p) => p.querySelector('path.line')).id = 'curve';")
        colours = browser.find("#curve").picture().colours()
        self.assertGreater(len([c for c, n in colours.items() if n > 20]), 2)
        refused = browser.script("try { document.cookie = 'a=b'; return document.cookie; } catch (e) { return 'refused'; }")
        self.assertEqual(refused, "refused")  # a sandbox: its page has no origin
        browser.close_tab()
        browser.to_tab(first)

    def test_hostile_names(self):
        """Names that would be markup, options, commands or paths, were they not taken as names."""
        for name in HOSTILE:
            with open(served.path("easy.mtx"), "rb") as source, open(served.path(name), "wb") as file:
                file.write(source.read())
        browser.reload()
        browser.wait("document.querySelectorAll('#files button').length > arguments[0]", len(HOSTILE))
        shown = browser.script("return [...document.querySelectorAll('#files bdi')].map((b) => b.textContent);")
        self.assertEqual([name for name in SHOWN if name not in shown], [])
        for name in HOSTILE:
            self.choose(name)
            browser.wait("document.getElementById('facts').textContent.includes('460')")
            browser.wait("document.getElementById('spy').naturalWidth > 0")
        for name in HOSTILE[:1] + HOSTILE[2:5]:
            self.choose(name)
            self.set("method", "cg")
            self.set("precon", "none")
            job = self.begin()
            self.ends(job, "converged")
        # a command that turns itself around would be another one to who reads it
        self.assertIn("$'\\342\\200\\256''gpj.mtx'", browser.text(f".job[data-id='{job}'] code"))
        browser.find(f".job[data-id='{job}'] summary").click()
        browser.wait(f"document.querySelector('.job[data-id=\"{job}\"] .record dl')")
        self.assertFalse(browser.script("return /[\\u200b-\\u200f\\u202a-\\u202e]/.test(document.body.innerText);"))
        self.assertEqual(browser.script("return [document.querySelectorAll('.files img, .job img, #matrix-title img').length, window.hurt ?? null];"), [0, None])
        browser.reload()  # the name stands in the address
        browser.wait("document.getElementById('matrix-name').textContent === arguments[0]", SHOWN[4])
        for name in HOSTILE:
            os.remove(served.path(name))
        self.assertEqual([name for name in os.listdir(served.folder) if "hurt" in name], [])

    def test_phone(self):
        """Nothing is wider than the window, and what is tapped is large enough."""
        job = self.solve("easy.mtx", "cg", "none")
        self.ends(job, "converged")
        browser.size(360, 740, mobile=True)
        try:
            browser.wait("document.querySelector('#chart svg').clientWidth < 360")
            browser.find("#own summary").click()
            browser.wait("document.getElementById('sweeps-picture').naturalWidth > 0")
            self.assertLessEqual(browser.script("return document.documentElement.scrollWidth;"), 360)
            wide = browser.script("return [...document.querySelectorAll('main *, nav *')].filter((e) => e.checkVisibility() && !e.closest('.scroll, pre, code, svg') && e.getBoundingClientRect().right > 361).map((e) => e.outerHTML.slice(0, 80));")
            self.assertEqual(wide, [])
            low = browser.script("return [...document.querySelectorAll('button, a.button, select, input:not([type=checkbox])')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 32).map((e) => e.outerHTML.slice(0, 80));")
            self.assertEqual(low, [])
        finally:
            browser.own_size()

    def test_print(self):
        """On paper: black on white whatever the screen has, without what one clicks at; what fits on a page is on one."""
        job = self.solve("easy.mtx", "cg", "none")
        self.ends(job, "converged")
        browser.find(f".job[data-id='{job}'] summary").click()
        browser.wait(f"document.querySelector('.job[data-id=\"{job}\"] .record dl')")
        browser.chrome("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        browser.size(680, 900)  # of A4, within the margins
        try:
            browser.wait("document.querySelector('#chart svg').clientWidth <= 680")
            self.assertEqual(browser.script("return getComputedStyle(document.body).backgroundColor;"), "rgb(255, 255, 255)")
            clicked = browser.script("return [...document.querySelectorAll('button:not(.sort), input, select, textarea, a.button, nav, .bar')].filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 80));")
            self.assertEqual(clicked, [])
            whole = ".look, .chart, .job-top, .command, #compare tr, .record dl > div"
            self.assertEqual(browser.script("return [...document.querySelectorAll(arguments[0])].filter((e) => getComputedStyle(e).breakInside !== 'avoid').map((e) => e.className);", whole), [])
            self.assertEqual(browser.script("return [...document.querySelectorAll('h2, h3')].filter((e) => getComputedStyle(e).breakAfter !== 'avoid').map((e) => e.id);"), [])
            self.assertEqual(browser.script("return getComputedStyle(document.querySelector('#compare thead')).display;"), "table-header-group")
            wide = browser.script("return [...document.querySelectorAll('main *')].filter((e) => e.checkVisibility() && !e.closest('svg') && e.getBoundingClientRect().right > 681).map((e) => e.outerHTML.slice(0, 80));")
            self.assertEqual(wide, [])
        finally:
            browser.chrome("Emulation.setEmulatedMedia", media="", features=[])
            browser.own_size()

    def test_keyboard(self):
        """With keys alone: the skip link, a file, the form, a solve; the focus is always seen and never lost."""
        browser.script("document.activeElement.blur();")

        def to(condition):
            for _ in range(80):
                browser.key("Tab")
                unseen = browser.script("const e = document.activeElement, s = getComputedStyle(e), d = e.closest('.drop');"
                                        "return s.outlineStyle === 'none' && !(d && getComputedStyle(d).outlineStyle !== 'none') ? e.outerHTML.slice(0, 120) : null;")
                self.assertIsNone(unseen)
                if browser.script(f"const e = document.activeElement; return {condition};"):
                    return
            self.fail(f"not reached by the Tab key: {condition}")

        to("e.className === 'skip'")
        self.assertGreaterEqual(browser.script("return document.activeElement.getBoundingClientRect().top;"), 0)
        to("e.dataset.name === 'easy.mtx'")
        browser.key("Enter")
        browser.wait("document.activeElement.id === 'matrix-title'")
        to("e.id === 'method'")
        for letter in "cg:":
            browser.key(letter)
        self.assertEqual(browser.script("return document.getElementById('method').value;"), "cg")
        to("e.id === 'tol'")
        for letter in "1e-6":
            browser.key(letter)
        before = self.newest()
        to("e.id === 'do-solve'")
        browser.key("Enter")
        job = browser.wait(f"[...document.querySelectorAll('.job')].map((j) => Number(j.dataset.id)).find((id) => id > {before})")
        self.ends(job, "converged")
        browser.wait("document.activeElement.id === 'do-solve'")
        browser.wait("document.getElementById('toast').textContent.includes('converged')")  # a live region: it is read out
        to(f"e.getAttribute('aria-label') === 'Copy the command of job {job}'")
        browser.key("Space")
        browser.wait("document.getElementById('toast').textContent === 'Copied.'")
        nameless = browser.script("return [...document.querySelectorAll('button, a, input, select, textarea')].filter((e) => e.checkVisibility() && !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.[0]?.textContent.trim())).map((e) => e.outerHTML);")
        self.assertEqual(nameless, [])

    def test_settings(self):
        """Light and dark have their own grounds, on which all texts can be read; who wants less motion gets none."""
        grounds = []
        texts = [(text, ground) for text in ("ink", "soft", "link", "error", "warning", "good") for ground in ("card", "ground")]
        texts += [("ink", "panel"), ("soft", "panel"), ("link", "panel"), ("link", "tint"), ("on-link", "link"), ("ground", "ink")]
        lines = [(f"c{k}", "card") for k in range(6)] + [("edge", "card")]
        for scheme in ("light", "dark"):
            browser.prefer(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            grounds.append(browser.script("return getComputedStyle(document.body).backgroundColor;"))
            self.assertRegex(browser.script("return getComputedStyle(document.querySelector('button')).transitionDuration;"), r"^0s")
            for pairs, least in ((texts, 4.5), (lines, 3)):  # what WCAG 2.1 wants of texts, and of what has to be seen
                colours = browser.script("const style = getComputedStyle(document.documentElement);"
                                         "return arguments[0].map((pair) => pair.map((name) => style.getPropertyValue(`--${name}`).trim()));", pairs)
                self.assertEqual([(scheme, pair) for pair, two in zip(pairs, colours) if contrast(*two) < least], [])
        browser.prefer()
        level = [sum(map(int, ground[4:-1].split(","))) for ground in grounds]
        self.assertTrue(level[0] > 600 and level[1] < 150, grounds)

    def test_wrong_token(self):
        """Without the cookie nothing is shown; a page that was open says so; a token that was used up opens nothing, a fresh one does."""
        browser.forget_cookies()
        browser.wait("!document.getElementById('banner').hidden")
        self.assertIn("spry serve", browser.text("#banner"))
        for address in (home, home + "?token=" + 32 * "0"):
            browser.go(address)
            self.assertIsNone(browser.text("#files"))
            self.assertNotIn("easy.mtx", browser.script("return document.documentElement.outerHTML;"))
            # as the page looks, in the middle of the window; what was wrong is said, and the keys go to the form
            self.assertEqual(browser.text("[role=alert]") is not None, "token" in address)
            card = browser.script("const c = document.querySelector('.card').getBoundingClientRect(); return [c.left, innerWidth - c.right, c.top];")
            self.assertTrue(card[0] > 100 and abs(card[0] - card[1]) <= 1 and card[2] > 100, card)
            self.assertEqual(browser.script("return document.activeElement.name;"), "token")
        browser.key("x")
        browser.key("Enter")
        browser.wait("document.querySelector('[role=alert]')?.textContent.includes('does not open') && location.pathname === '/login'")
        served.wait_for(lambda: len(served.urls) > 1, "second address")
        browser.go(served.address())
        browser.wait("document.querySelectorAll('#files button').length > 0")
        self.assertNotIn("token", browser.script("return location.href;"))

    @classmethod
    def tearDownClass(cls):
        """The console, but for answers that were asked for: no cookie, a file that is there already, a bad file."""
        expected = ("status of 401", "status of 409", "status of 422")
        reported = [line["message"] for line in browser.logs() if line["level"] == "SEVERE" and not any(word in line["message"] for word in expected)]
        if reported:
            raise AssertionError("the browser's console has:\n" + "\n".join(reported))


def browser_address(name):
    return home + "#" + urllib.parse.quote(name)


if __name__ == "__main__":
    if webdriver.missing():
        print(f"SKIP: {webdriver.missing()} not installed")
        sys.exit(77)
    SPRY = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
