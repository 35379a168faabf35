"""junit_errors.py: for each file named on stdin, `valid` or what is wrong with it as a JUnit report.

Checked against the schema that Jenkins' JUnit plugin publishes (junit-10.xsd). GitHub's and GitLab's readers rely on
more: known elements and attributes, counts that add up, and test cases with unique names.
"""

import sys
import xml.etree.ElementTree as ElementTree

CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase", "system-out", "system-err"},
    "testcase": {"properties", "skipped", "error", "failure", "system-out", "system-err"},
    "properties": {"property"},
}
ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testcase": {"classname", "name", "time"},
    "property": {"name", "value"},
    "skipped": {"message"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
}
COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def errors_of_element(element):
    for child in element:
        if child.tag not in CHILDREN.get(element.tag, set()):
            yield f"<{element.tag}> holds <{child.tag}>"
        yield from errors_of_element(child)
    if set(element.attrib) != ATTRIBUTES.get(element.tag, set()):
        yield f"<{element.tag}> has the attributes {sorted(element.attrib)}"
    if "time" in element.attrib and float(element.attrib["time"]) < 0:
        yield f"<{element.tag}> took {element.attrib['time']} s"


def errors_of_counts(element):
    cases = list(element.iter("testcase"))
    counts = {"tests": len(cases)}
    for attribute, tag in COUNTED.items():
        counts[attribute] = sum(case.find(tag) is not None for case in cases)
    for attribute, count in counts.items():
        if int(element.attrib[attribute]) != count:
            yield f"<{element.tag}> says {attribute}={element.attrib[attribute]}, and holds {count}"


def errors_of(root):
    if root.tag != "testsuites":
        yield f"the root is <{root.tag}>"
        return
    yield from errors_of_element(root)
    for element in [root, *root]:
        yield from errors_of_counts(element)
    names = [(case.attrib["classname"], case.attrib["name"]) for case in root.iter("testcase")]
    for name in {name for name in names if names.count(name) > 1}:
        yield f"two test cases are called {name}"
    for suite in root:
        for case in suite.iter("testcase"):
            if case.attrib["classname"] != suite.attrib["name"]:
                yield f"{case.attrib['name']} of suite {suite.attrib['name']} is of class {case.attrib['classname']}"
            if sum(case.find(tag) is not None for tag in COUNTED.values()) > 1:
                yield f"{case.attrib['name']} has two results"


for line in sys.stdin:
    try:
        error = next(errors_of(ElementTree.parse(line.rstrip("\n")).getroot()), None)
    except (ElementTree.ParseError, KeyError, ValueError) as exception:
        error = f"{type(exception).__name__}: {exception}"
    print("valid" if error is None else f"invalid: {error}")
