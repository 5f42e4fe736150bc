"""A browser for tests: Chromium by the W3C's WebDriver protocol (https://www.w3.org/TR/webdriver2/), as chromedriver
speaks it, and pictures of it as pixels. Python's standard library alone."""

import base64
import collections
import http.client
import json
import re
import shutil
import struct
import subprocess
import tempfile
import time
import zlib

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name for a reference to an element
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Space": " ", "Escape": "\ue00c", "Down": "\ue015", "Shift": "\ue008", "Control": "\ue009", "Right": "\ue014"}
DRIVERS = ("chromedriver", "/usr/lib/chromium/chromedriver")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def found(names):
    return next((path for path in map(shutil.which, names) if path), None)


def missing():
    """What has to be installed for a browser, or None."""
    return None if found(DRIVERS) and found(BROWSERS) else "chromium and chromium-driver"


class Failed(Exception):
    pass


class Element:
    def __init__(self, browser, reference):
        self.browser, self.reference = browser, reference

    def _do(self, method, path, body=None):
        return self.browser.command(method, f"/element/{self.reference}/{path}", body)

    def click(self):
        """In the middle of the window: at its edge a header may lie over it, and the page may be scrolling."""
        for left in range(20, -1, -1):
            self.browser.script("arguments[0].scrollIntoView({block: 'center'});", {ELEMENT: self.reference})
            try:
                self._do("POST", "click", {})
                return
            except Failed as failed:
                if "intercepted" not in str(failed) or not left:
                    raise
            time.sleep(0.1)

    def type(self, text):
        self._do("POST", "value", {"text": text})

    def clear(self):
        self._do("POST", "clear", {})

    @property
    def text(self):
        return self._do("GET", "text")

    def picture(self):
        return Picture(base64.b64decode(self._do("GET", "screenshot")))


class Browser:
    """One browser with one profile, which goes with it."""

    def __init__(self, downloads=None, wait=60):
        self.wait_seconds = wait
        self.profile = tempfile.TemporaryDirectory(prefix="spry-browser-", ignore_cleanup_errors=True)
        self.driver = subprocess.Popen([found(DRIVERS), "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.session = None
        try:
            self.port = self._port()
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--no-first-run",
                         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--renderer-process-limit=1", "--disable-features=Translate,OptimizationHints",
                         "--force-device-scale-factor=1", "--hide-scrollbars", "--window-size=1100,760", f"--user-data-dir={self.profile.name}"]
            options = {"binary": found(BROWSERS), "args": arguments}
            if downloads:
                options["prefs"] = {"download.default_directory": downloads, "download.prompt_for_download": False}
            capabilities = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            answer = self._request("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self.session = answer["sessionId"]
        except BaseException:
            self.close()
            raise

    def _port(self):
        for line in self.driver.stdout:
            port = re.search(r"started successfully on port (\d+)", line)
            if port:
                return int(port[1])
        raise Failed("chromedriver did not start")

    def _request(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise Failed(f"{method} {path}: {value['error']}: {value.get('message', '')}")
        return value

    def command(self, method, path, body=None):
        return self._request(method, f"/session/{self.session}{path}", body)

    def close(self):
        try:
            if self.session:
                self.command("DELETE", "")
        except (OSError, Failed, ValueError):
            pass  # the process goes all the same
        finally:
            self.session = None
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            self.profile.cleanup()

    # --- pages ---------------------------------------------------------------------------------

    def go(self, address):
        self.command("POST", "/url", {"url": address})

    def reload(self):
        self.command("POST", "/refresh", {})

    def script(self, text, *arguments):
        return self.command("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def wait(self, condition, *arguments, seconds=None):
        """Until a JavaScript expression is true; what it is then."""
        return self.wait_for(lambda: self.script(f"return ({condition});", *arguments), condition, seconds)

    def wait_for(self, act, what, seconds=None):
        end = time.monotonic() + (seconds or self.wait_seconds)
        while True:
            value = act()
            if value:
                return value
            if time.monotonic() > end:
                seen = self.script("return [...document.querySelectorAll('h1, h2, p, .job')].map((e) => e.innerText).join(' | ').slice(0, 3000);")
                raise AssertionError(f"did not come true: {what}\n{seen}")
            time.sleep(0.1)

    def find(self, selector):
        return Element(self, self.command("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT])

    def text(self, selector):
        return self.script("return document.querySelector(arguments[0])?.textContent ?? null;", selector)

    def logs(self):
        return self.command("POST", "/se/log", {"type": "browser"})

    def forget_cookies(self):
        self.command("DELETE", "/cookie")

    # --- the pointer ---------------------------------------------------------------------------

    def at(self, selector, across=0.5, down=0.5):
        """A place of the window within an element, which is brought into it."""
        place = self.script("const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center', behavior: 'instant'});"
                            "const r = e.getBoundingClientRect(); return [r.left + arguments[1] * r.width, r.top + arguments[2] * r.height];", selector, across, down)
        time.sleep(0.4)  # a page may take the wheel for its own while it is scrolled
        return [round(v) for v in place]

    def wheel(self, selector, down, across=0.5):
        x, y = self.at(selector, across)
        steps = [{"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": down}]
        self.command("POST", "/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": steps}]})

    def mouse(self, selector, *moves):
        """Presses the button in the middle of an element, moves by each (x, y) while it is held, and lets it go."""
        x, y = self.at(selector)
        steps = [{"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}]
        steps += [{"type": "pointerMove", "x": x + right, "y": y + down} for right, down in moves] + [{"type": "pointerUp", "button": 0}]
        self.command("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}]})

    # --- keys, windows, what the reader has set --------------------------------------------------

    def key(self, *names):
        """Keys that are held down together: key("Shift", "Tab")."""
        values = [KEYS.get(name, name) for name in names]
        actions = [{"type": "keyDown", "value": value} for value in values] + [{"type": "keyUp", "value": value} for value in reversed(values)]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def new_tab(self):
        handle = self.command("POST", "/window/new", {"type": "tab"})["handle"]
        self.to_tab(handle)
        return handle

    def tab(self):
        return self.command("GET", "/window")

    def tabs(self):
        return self.command("GET", "/window/handles")

    def to_tab(self, handle):
        self.command("POST", "/window", {"handle": handle})

    def close_tab(self):
        self.command("DELETE", "/window")

    def chrome(self, name, **parameters):
        return self.command("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def size(self, width, height, mobile=False):
        self.chrome("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def own_size(self):
        self.chrome("Emulation.clearDeviceMetricsOverride")

    def prefer(self, **features):
        self.chrome("Emulation.setEmulatedMedia", features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def png(self):
        return base64.b64decode(self.command("GET", "/screenshot"))

    def picture(self):
        return Picture(self.png())


class Picture:
    """A PNG of 8 bits a channel that is not interlaced, as Chromium makes them."""

    def __init__(self, data):
        self.width, self.height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
        self.channels = {0: 1, 2: 3, 4: 2, 6: 4}[kind]
        if depth != 8 or interlaced:
            raise Failed("a PNG of another kind")
        packed, at = b"", 8
        while at < len(data):
            (length,) = struct.unpack(">I", data[at:at + 4])
            if data[at + 4:at + 8] == b"IDAT":
                packed += data[at + 8:at + 8 + length]
            at += length + 12
        self.rows = list(self._rows(zlib.decompress(packed)))

    def _rows(self, data):
        n, stride = self.channels, self.width * self.channels
        above = bytearray(stride)
        for y in range(self.height):
            kind, row = data[y * (stride + 1)], bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
            for i in range(stride if kind else 0):
                left, up, corner = row[i - n] if i >= n else 0, above[i], above[i - n] if i >= n else 0
                if kind == 4:
                    nearest = left + up - corner
                    guess = min((abs(nearest - left), 0, left), (abs(nearest - up), 1, up), (abs(nearest - corner), 2, corner))[2]
                else:
                    guess = (0, left, up, (left + up) // 2)[kind]
                row[i] = (row[i] + guess) & 255
            yield row
            above = row

    def colours(self):
        """How many pixels each colour has."""
        n = self.channels
        return collections.Counter(bytes(row[i:i + n][:3]) for row in self.rows for i in range(0, len(row), n))

    def ground(self):
        return self.colours().most_common(1)[0][0]

    def marked(self):
        """The share of pixels that are not the ground's."""
        colours = self.colours()
        return 1 - colours.most_common(1)[0][1] / sum(colours.values())
