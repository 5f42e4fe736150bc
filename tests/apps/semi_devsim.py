#!/usr/bin/env python3
"""spry semi against DEVSIM (https://devsim.org), where that is installed: a diode in one and two
dimensions and a transistor in two, on the same meshes and with the same models (Boltzmann's
statistics, constant mobility, recombination by Shockley, Read and Hall).

    semi_devsim.py SPRY-SEMI

Both discretise alike, so that only rounding and where iterations end differ: 1% is far off.
Exit status 77: DEVSIM is missing."""

import csv
import math
import os
import subprocess
import sys
import tempfile

try:
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # it prints while it is loaded
    try:
        import devsim
        from devsim.python_packages import simple_physics as physics
        from devsim.python_packages.model_create import CreateSolution
    finally:
        os.dup2(saved, 1)
except ImportError:
    print("SKIP: devsim is not installed")
    sys.exit(77)

Q, K, T = 1.602176634e-19, 1.380649e-23, 300.0
NI = math.sqrt(2.86e19 * 3.1e19) * math.exp(-1.1242 * Q / (2 * K * T))
LEVEL = 4.05 + 1.1242 / 2 + K * T / Q / 2 * math.log(2.86e19 / 3.1e19)
VACUUM = 8.8541878128e-14
LIMIT = 0.01
FLOOR = 1e-12  # A: below it currents are not compared


def axis(*parts):
    """Places from (from, to, first interval, last interval) on; intervals change evenly."""
    places = [parts[0][0]]
    for low, high, first, last in parts:
        count = max(1, round((high - low) / ((first + last) / 2)))
        steps = [first + (last - first) * (k + 0.5) / count for k in range(count)]
        scale = (high - low) / sum(steps)
        for step in steps:
            places.append(places[-1] + step * scale)
        places[-1] = high
    return places


class Mesh:
    """Boxes of a plane cut into triangles, or lines; nm."""

    def __init__(self, xs, ys=None, region=lambda x, y: "body", contacts=None, interface=None):
        self.dim = 2 if ys else 1
        ys = ys or [0.0]
        nx = len(xs)
        self.nodes = [(x, y) for y in ys for x in xs]
        self.cells = {}
        for j in range(max(1, len(ys) - 1)):
            for i in range(nx - 1):
                a = j * nx + i
                middle = (xs[i] + xs[i + 1]) / 2, (ys[j] + ys[min(j + 1, len(ys) - 1)]) / 2
                name = region(*middle)
                if name is None:
                    continue
                new = [(a, a + 1)] if self.dim == 1 else [(a, a + 1, a + nx + 1),
                                                          (a, a + nx + 1, a + nx)]
                self.cells.setdefault(name, []).extend(new)
        self.edges = {}
        used = {node for cells in self.cells.values() for cell in cells for node in cell}
        groups = dict(contacts)
        if interface:
            groups["interface"] = interface
        for name, is_on in groups.items():
            on = {k for k in used if is_on(*self.nodes[k])}
            pairs = [(k,) for k in sorted(on)]
            if self.dim == 2:
                pairs = [(k, k + 1) for k in sorted(on)
                         if k + 1 in on and (k + 1) % nx and self.nodes[k][1] == self.nodes[k + 1][1]]
            self.edges[name] = pairs
        self.used = sorted(used)

    def write(self, path, unit, leave=()):
        """Gmsh 2.2, lengths in that unit of nm."""
        groups = [(self.dim, name, cells) for name, cells in self.cells.items()]
        groups += [(self.dim - 1, name, e) for name, e in self.edges.items() if name not in leave]
        kinds = {1: 15, 2: 1, 3: 2}
        with open(path, "w", encoding="ascii") as out:
            out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n%d\n" % len(groups))
            for tag, (dim, name, _) in enumerate(groups, 1):
                out.write('%d %d "%s"\n' % (dim, tag, name))
            out.write("$EndPhysicalNames\n$Nodes\n%d\n" % len(self.used))
            for k in self.used:
                x, y = self.nodes[k]
                out.write("%d %.17g %.17g 0\n" % (k + 1, x * unit, y * unit))
            elements = [(tag, cell) for tag, g in enumerate(groups, 1) for cell in g[2]]
            out.write("$EndNodes\n$Elements\n%d\n" % len(elements))
            for number, (tag, cell) in enumerate(elements, 1):
                out.write("%d %d 2 %d %d %s\n" % (number, kinds[len(cell)], tag, tag,
                                                  " ".join(str(k + 1) for k in cell)))
            out.write("$EndElements\n")


def by_devsim(folder, mesh, doping, gate, biases):
    """Currents of the first contact, A, at voltages of all."""
    path = os.path.join(folder, "devsim.msh")
    mesh.write(path, 1e-7)
    for name in ("extended_solver", "extended_model", "extended_equation"):
        devsim.set_parameter(name=name, value=True)
    if mesh.dim == 1:
        devsim.create_1d_mesh(mesh="mesh")
        for k in mesh.used:
            devsim.add_1d_mesh_line(mesh="mesh", pos=mesh.nodes[k][0] * 1e-7, ps=1, tag="n%d" % k)
        ends = {name: "n%d" % e[0][0] for name, e in mesh.edges.items()}
        for name, tag in ends.items():
            devsim.add_1d_contact(mesh="mesh", name=name, tag=tag, material="metal")
        tags = list(ends.values())
        devsim.add_1d_region(mesh="mesh", material="Si", region="body", tag1=tags[0], tag2=tags[1])
    else:
        devsim.create_gmsh_mesh(file=path, mesh="mesh")
        for name in mesh.cells:
            devsim.add_gmsh_region(mesh="mesh", gmsh_name=name, region=name, material=name)
        for name in mesh.edges:
            if name == "interface":
                devsim.add_gmsh_interface(mesh="mesh", gmsh_name=name, name=name, region0="body",
                                          region1="oxide")
            else:
                devsim.add_gmsh_contact(mesh="mesh", gmsh_name=name, name=name, material="metal",
                                        region="oxide" if name == gate else "body")
    devsim.finalize_mesh(mesh="mesh")
    devsim.create_device(mesh="mesh", device="device")
    contacts = [c for c in mesh.edges if c != "interface"]
    at = {"device": "device", "region": "body"}
    for region in mesh.cells:
        CreateSolution("device", region, "Potential")
    physics.SetSiliconParameters("device", "body", T)
    for name, value in {"ElectronCharge": Q, "n_i": NI, "n1": NI, "p1": NI, "kT": K * T,
                        "V_t": K * T / Q, "mu_n": 1429, "mu_p": 479, "taun": 1e-6, "taup": 1e-6,
                        "Permittivity": 11.7 * VACUUM}.items():
        devsim.set_parameter(name=name, value=value, **at)
    xs = devsim.get_node_model_values(name="x", **at)
    ys = devsim.get_node_model_values(name="y", **at)
    devsim.node_solution(name="NetDoping", **at)
    devsim.set_node_values(name="NetDoping",
                           values=[doping(round(x * 1e7, 6), round(y * 1e7, 6)) for x, y in zip(xs, ys)], **at)
    physics.CreateSiliconPotentialOnly("device", "body")
    if gate:
        physics.SetOxideParameters("device", "oxide", T)
        devsim.set_parameter(device="device", region="oxide", name="Permittivity",
                             value=3.9 * VACUUM)
        physics.CreateOxidePotentialOnly("device", "oxide", "log_damp")
        physics.CreateSiliconOxideInterface("device", "interface")
    for name in contacts:
        devsim.set_parameter(device="device", name=physics.GetContactBiasName(name), value=0.0)
        if name == gate:
            physics.CreateOxideContact("device", "oxide", name)
        else:
            physics.CreateSiliconPotentialOnlyContact("device", "body", name)
    devsim.solve(type="dc", absolute_error=1, relative_error=1e-12, maximum_iterations=60)
    for name, start in (("Electrons", "IntrinsicElectrons"), ("Holes", "IntrinsicHoles")):
        CreateSolution("device", "body", name)
        devsim.set_node_values(name=name, init_from=start, **at)
    physics.CreateSiliconDriftDiffusion("device", "body")
    for name in contacts:
        if name != gate:
            physics.CreateSiliconDriftDiffusionAtContact("device", "body", name)
    found = []
    for volts in biases:
        for name, value in zip(contacts, volts):
            devsim.set_parameter(device="device", name=physics.GetContactBiasName(name),
                                 value=value)
        devsim.solve(type="dc", absolute_error=1e5, relative_error=1e-12, maximum_iterations=60)
        found.append(sum(devsim.get_contact_current(device="device", contact=contacts[0],
                                                    equation=e)
                         for e in ("ElectronContinuityEquation", "HoleContinuityEquation")))
    devsim.delete_device(device="device")
    devsim.delete_mesh(mesh="mesh")
    return found


def by_spry(program, folder, mesh, doping, gate, sweep, bias, start, end, step):
    """Voltages and currents of contacts, a row each."""
    path, points = os.path.join(folder, "spry.msh"), os.path.join(folder, "doping")
    mesh.write(path, 1, leave=("interface",))
    with open(points, "w", encoding="ascii") as out:
        for k in mesh.used:
            x, y = mesh.nodes[k]
            out.write("%.17g %.17g 0 %.17g\n" % (x, y, doping(x, y)))
    table = os.path.join(folder, "curve.csv")
    command = [program, "--mesh", path, "--doping-file", points, "--materials",
               "body silicon" + (", oxide sio2" if gate else ""), "--mobility", "constant",
               "--width", "0.01", "--sweep", sweep, "--from", str(start), "--to", str(end),
               "--step", str(step), "--bias", bias, "--work", "%.17g" % LEVEL, "--quiet",
               "--output", table]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(table, encoding="ascii") as file:
        return list(csv.DictReader(file))


def compare(title, program, mesh, doping, gate, sweep, bias, start, end, step):
    with tempfile.TemporaryDirectory() as folder:
        mine = by_spry(program, folder, mesh, doping, gate, sweep, bias, start, end, step)
        contacts = [c for c in mesh.edges if c != "interface"]
        biases = [[float(row["V_" + c]) for c in contacts] for row in mine]
        sys.stdout.flush()
        saved = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            other = by_devsim(folder, mesh, doping, gate, biases)
        finally:
            os.dup2(saved, 1)
    worst, compared = 0, []
    for row, theirs in zip(mine, other):
        own = float(row["I_" + contacts[0]])
        if abs(own) < FLOOR:
            continue
        compared.append(abs(own))
        worst = max(worst, abs(own - theirs) / abs(own))
    print("%s: %d nodes, %d currents from %.2g to %.2g A, apart by %.1e at most"
          % (title, len(mesh.used), len(compared), min(compared), max(compared), worst))
    return worst <= LIMIT and len(compared) >= 5


def main():
    program = sys.argv[1]
    fine = axis((0, 500, 40, 2), (500, 1000, 2, 40))
    rod = Mesh(fine, contacts={"anode": lambda x, y: x == 0, "cathode": lambda x, y: x == 1000})
    ok = compare("diode 1-D", program, rod, lambda x, y: -1e17 if x < 500 else 1e17, None,
                 "anode", "cathode 0", 0, 1.2, 0.1)
    depth = axis((0, 300, 30, 4), (300, 800, 4, 80))
    corner = Mesh(fine, depth, contacts={"anode": lambda x, y: y == 0 and x <= 300,
                                         "cathode": lambda x, y: y == 800})
    ok &= compare("diode 2-D", program, corner,
                  lambda x, y: -5e17 if x < 500 and y < 300 else 1e17, None, "anode", "cathode 0",
                  0, 1.2, 0.1)
    along = axis((-100, -40, 12, 2), (-40, 40, 2, 2), (40, 100, 2, 12))
    down = axis((-2, 0, 0.5, 0.5), (0, 30, 0.4, 3), (30, 150, 3, 20))
    transistor = Mesh(along, down, contacts={"drain": lambda x, y: y == 0 and x >= 60,
                                             "source": lambda x, y: y == 0 and x <= -60,
                                             "gate": lambda x, y: y == -2 and abs(x) <= 40,
                                             "bulk": lambda x, y: y == 150},
                      region=lambda x, y: "body" if y > 0 else "oxide" if abs(x) < 40 else None,
                      interface=lambda x, y: y == 0 and abs(x) <= 40)
    for volts in (0.05, 1.0):
        ok &= compare("transistor, %g V at the drain" % volts, program, transistor,
                      lambda x, y: 5e19 if abs(x) > 40 and y < 30 else -1e18, "gate", "gate",
                      "drain %g" % volts, 0, 1.2, 0.2)
    sys.exit(0 if ok else 1)


main()
