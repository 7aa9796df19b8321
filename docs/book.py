"""Builds the documents as a site: python3 docs/book.py TARGET.

Stages the pages of docs/SUMMARY.md, and the files that they link to, under TARGET/book-pages with the layout of the
repository; renders them by mdBook to TARGET/book; and checks every link between the pages of the site.
"""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from os.path import normpath, relpath
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)[^)]*\)|(?:src|srcset|href)=\"([^\"]+)\"")


def beside(page, link):
    """The path that a link of a page leads to, from the root of the repository; None for the web and the page itself."""
    parts = urlsplit(link)
    if parts.scheme or not parts.path:
        return None
    return normpath(str(Path(page).parent / unquote(parts.path)))


def prose(text):
    """The text without code."""
    text = re.sub(r"^(```).*?^```", "", text, flags=re.S | re.M)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def title(page):
    """The first heading, or the name of a page without one."""
    lines = (ROOT / page).read_text().splitlines()
    return next((line[2:] for line in lines if line.startswith("# ")), Path(page).stem)


def contents():
    """docs/SUMMARY.md for the root of the repository. A folder's README.md brings the folder's other pages."""
    lines = []
    for line in (ROOT / "docs/SUMMARY.md").read_text().splitlines():
        entry = re.match(r"( *)(- )?\[(.+)\]\((.+)\)$", line)
        if not entry:
            lines.append(line)
            continue
        indent, bullet, name, link = entry.groups()
        page = beside("docs/SUMMARY.md", link)
        lines.append(f"{indent}{bullet or ''}[{name}]({page})")
        folder = Path(page).parent
        if page.endswith("/README.md") and folder != Path("docs"):
            others = sorted(path for path in (ROOT / folder).glob("*.md") if path.name != "README.md")
            names = [str(path.relative_to(ROOT)) for path in others]
            lines += [f"{indent}  - [{title(name)}]({name})" for name in names]
    return "\n".join(lines) + "\n"


def stage(pages):
    """Copies the pages and what they link to. Returns links to pages that the site does not have."""
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    (pages / "SUMMARY.md").write_text(contents())
    listed = [found for found in re.findall(r"\]\((.+)\)", contents())]
    missing = []
    for page in listed:
        text = (ROOT / page).read_text()
        (pages / page).parent.mkdir(parents=True, exist_ok=True)
        (pages / page).write_text(text)
        for found in LINK.findall(prose(text)):
            target = beside(page, found[0] or found[1])
            if target is None or target in listed or target == "docs/SUMMARY.md":
                continue
            source, copy = ROOT / target, pages / target
            if target.endswith(".md"):
                missing.append(f"{page}: {target} is not in docs/SUMMARY.md")
            elif source.is_dir():
                shutil.copytree(source, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("target", "*.md"))
            else:
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
    return missing


class Page(HTMLParser):
    """The links and the ids of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def dead(site):
    """Links of the site that lead to no file or to no heading."""
    pages = {str(path.relative_to(site)): Page(path) for path in site.rglob("*.html")}
    found = []
    for name, page in pages.items():
        for link in page.links:
            target = beside(name, link) or name
            fragment = unquote(urlsplit(link).fragment)
            if urlsplit(link).scheme or name == "404.html":
                continue
            if not (site / target).exists():
                found.append(f"{name}: {link}: no such file")
            elif fragment and target in pages and fragment not in pages[target].ids:
                found.append(f"{name}: {link}: no such heading")
    return found


def main():
    target = Path(sys.argv[1]).resolve()
    staged, site = target / "book-pages", target / "book"
    faults = stage(staged / "pages")
    shutil.copyfile(ROOT / "book.toml", staged / "book.toml")
    shutil.rmtree(site, ignore_errors=True)
    mdbook = target / "tools/bin/mdbook"
    subprocess.run([mdbook, "build", staged, "--dest-dir", site], check=True)
    faults += dead(site)
    if faults:
        sys.exit("\n".join(faults))
    print(f"The site: {relpath(site)}/index.html")


main()
