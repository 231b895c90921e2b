"""office_files.py FAKE_TRANSLATION [SOFFICE] - files of other tools (python-docx, openpyxl, python-pptx, odfpy, ebooklib,
translate-toolkit), translated into capitals and read by the same tools again: nothing differs but the texts. With
LibreOffice's soffice, it opens them, too. Ends with 77 where the tools are not installed."""
import io
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
import zipfile

sys.dont_write_bytecode = True
from fake import run, translated

try:
    import docx
    import odf.dc
    import openpyxl
    import openpyxl.cell.rich_text
    import openpyxl.cell.text
    import openpyxl.comments
    import openpyxl.worksheet.table
    import pptx
    from ebooklib import epub
    from odf import opendocument, style, table, text
    from translate.storage import ts2, xliff
except ImportError as error:
    print("SKIP:", error)
    sys.exit(77)

def saved(document):
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def check(kind, data, words):
    """Each text of `words` is there in capitals; all other files of the archive, and the same words, give equal bytes."""
    out = translated(kind, data)
    before, after = zipfile.ZipFile(io.BytesIO(data)), zipfile.ZipFile(io.BytesIO(out))
    assert after.testzip() is None and before.namelist() == after.namelist(), kind
    for name in after.namelist():
        if name.endswith((".xml", ".rels", ".xhtml", ".opf", ".ncx")):
            ElementTree.fromstring(after.read(name))  # expat's judgement
        assert before.getinfo(name).compress_type == after.getinfo(name).compress_type, name
    everything = "".join(after.read(n).decode() for n in after.namelist() if n.endswith((".xml", ".xhtml", ".opf", ".ncx")))
    for word in words:
        assert word.upper() in everything, (kind, word)
    print(kind, len(data), "->", len(out), "bytes;", sum(before.read(n) != after.read(n) for n in after.namelist()), "of",
          len(after.namelist()), "files changed")
    return out


def word():
    made = docx.Document()
    made.core_properties.title = "The red book"
    made.add_heading("The first part", 1)
    paragraph = made.add_paragraph("This is ")
    paragraph.add_run("bold").bold = True
    paragraph.add_run(" and ")
    paragraph.add_run("slanted").italic = True
    paragraph.add_run(" text.")
    made.add_paragraph("one\ttwo cells\nnext line")
    made.add_paragraph("A list item", style="List Bullet")
    cells = made.add_table(2, 2)
    cells.cell(0, 0).text, cells.cell(1, 1).text = "Name", "a & b <c>"
    made.sections[0].header.paragraphs[0].text = "The header"
    made.sections[0].footer.paragraphs[0].text = "The footer"
    data = saved(made)
    out = check("docx", data, ["The header", "The footer", "The red book"])

    def facts(content):
        read = docx.Document(io.BytesIO(content))
        runs = [[(r.text.upper(), r.bold, r.italic) for r in p.runs] for p in read.paragraphs]
        return runs, [p.style.name for p in read.paragraphs], [[c.text.upper() for c in r.cells] for r in read.tables[0].rows]

    assert facts(out) == facts(data)
    assert docx.Document(io.BytesIO(out)).paragraphs[1].text == "THIS IS BOLD AND SLANTED TEXT."
    return out


def sheet():
    made = openpyxl.Workbook()
    first = made.active
    first["A1"], first["A2"], first["A3"], first["A4"] = "Hello world", 42, '=A1&" x"', "two\nlines"
    first["C1"] = openpyxl.cell.rich_text.CellRichText(
        "plain ", openpyxl.cell.rich_text.TextBlock(openpyxl.cell.text.InlineFont(b=True), "bold"), " end")
    first["A1"].comment = openpyxl.comments.Comment("A comment", "me")
    second = made.create_sheet("Second")
    second.append(["Name", "Value"])
    second.append(["apple", 1])
    second.add_table(openpyxl.worksheet.table.Table(displayName="T1", ref="A1:B2"))
    data = saved(made)
    out = check("xlsx", data, ["Hello world", "A comment", "apple"])
    read = openpyxl.load_workbook(io.BytesIO(out), rich_text=True)
    assert read.sheetnames == ["Sheet", "Second"]
    assert [c.value for c in read["Sheet"]["A"]] == ["HELLO WORLD", 42, '=A1&" x"', "TWO\nLINES"]
    assert [str(part) for part in read["Sheet"]["C1"].value] == ["PLAIN ", "BOLD", " END"]
    assert [[c.value for c in row] for row in read["Second"].rows] == [["Name", "Value"], ["APPLE", 1]]
    return out


def slides():
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "The title"
    frame = slide.placeholders[1].text_frame
    frame.text = "First point"
    paragraph = frame.add_paragraph()
    for words, bold in (("very ", None), ("bold", True), (" words", None)):
        run = paragraph.add_run()
        run.text, run.font.bold = words, bold
    slide.notes_slide.notes_text_frame.text = "Notes of the speaker"
    out = check("pptx", saved(made), ["The title", "Notes of the speaker"])
    read = pptx.Presentation(io.BytesIO(out)).slides[0]
    runs = [(r.text, r.font.bold) for r in read.placeholders[1].text_frame.paragraphs[1].runs]
    assert runs == [("VERY ", None), ("BOLD", True), (" WORDS", None)], runs
    return out


def open_text():
    made = opendocument.OpenDocumentText()
    bold = style.Style(name="B", family="text")
    bold.addElement(style.TextProperties(fontweight="bold"))
    made.automaticstyles.addElement(bold)
    made.meta.addElement(odf.dc.Title(text="The title"))
    made.text.addElement(text.H(outlinelevel=1, text="A heading"))
    paragraph = text.P(text="This is ")
    paragraph.addElement(text.Span(stylename=bold, text="bold"))
    paragraph.addText(" with a note")
    note, body = text.Note(noteclass="footnote"), text.NoteBody()
    note.addElement(text.NoteCitation(text="1"))
    body.addElement(text.P(text="The note says this."))
    note.addElement(body)
    paragraph.addElement(note)
    paragraph.addText(" in it.")
    made.text.addElement(paragraph)
    out = check("odt", saved(made), ["The title", "A heading", "The note says this."])
    read = opendocument.load(io.BytesIO(out))
    assert [str(s) for s in read.getElementsByType(text.Span)] == ["BOLD"]
    assert str(read.getElementsByType(text.P)[0]).startswith("THIS IS BOLD WITH A NOTE")
    return out


def open_sheet():
    made, rows, row = opendocument.OpenDocumentSpreadsheet(), table.Table(name="Sheet"), table.TableRow()
    for words, facts in (("Hello cell", {"valuetype": "string"}), ("three", {"valuetype": "float", "value": "3"}),
                         ("computed", {"valuetype": "string", "formula": "of:=[.A1]"})):
        cell = table.TableCell(**facts)
        cell.addElement(text.P(text=words))
        row.addElement(cell)
    rows.addElement(row)
    made.spreadsheet.addElement(rows)
    out = check("ods", saved(made), ["Hello cell"])
    read = opendocument.load(io.BytesIO(out))
    assert [str(c) for c in read.getElementsByType(table.TableCell)] == ["HELLO CELL", "three", "computed"]
    return out


def book():
    made = epub.EpubBook()
    made.set_title("The book")
    made.set_language("en")
    page = epub.EpubHtml(title="Intro", file_name="c1.xhtml", lang="en")
    page.content = '<html><body><h1>Intro</h1><p>Some <b>bold</b> text <img src="x.png" alt="A picture"/>.</p></body></html>'
    made.add_item(page)
    made.toc = (epub.Link("c1.xhtml", "Introduction", "intro"),)
    made.add_item(epub.EpubNcx())
    made.add_item(epub.EpubNav())
    made.spine = ["nav", page]
    with tempfile.NamedTemporaryFile(suffix=".epub") as file:
        epub.write_epub(file.name, made)
        out = check("epub", open(file.name, "rb").read(), ["The book", "Introduction", "A picture"])
    with tempfile.NamedTemporaryFile(suffix=".epub") as file:
        open(file.name, "wb").write(out)
        read = epub.read_epub(file.name)
    assert read.title == "THE BOOK" and b"<b>BOLD</b>" in read.get_item_with_href("c1.xhtml").content
    return out


def translators():
    made = xliff.xlifffile()
    for words in ("The car", "A red & <b>new</b> car", "%1$s of {name}"):
        made.addsourceunit(words)
    read = xliff.xlifffile.parsestring(run("xliff", bytes(made)))
    assert [u.target for u in read.units] == ["THE CAR", "A RED & <b>NEW</b> CAR", "%1$s OF {name}"], [u.target for u in read.units]
    assert all(u.isfuzzy() for u in read.units)  # they ask for a look
    made = ts2.tsfile()
    for words in ("&Open", "The car %1"):
        made.addunit(made.UnitClass(words), contextname="Main", createifmissing=True)
    read = ts2.tsfile.parsestring(run("ts", bytes(made)))
    assert [u.target for u in read.units] == ["&OPEN", "THE CAR %1"], [u.target for u in read.units]
    assert all(u.isfuzzy() or u._isunfinished() for u in read.units if hasattr(u, "_isunfinished"))
    print("xliff, ts: translate-toolkit reads the targets")


made = {"docx": word(), "xlsx": sheet(), "pptx": slides(), "odt": open_text(), "ods": open_sheet(), "epub": book()}
translators()
if len(sys.argv) > 2:
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("docx", "xlsx", "pptx", "odt", "ods"):
            path = folder + "/a." + ending
            open(path, "wb").write(made[ending])
            subprocess.run([sys.argv[2], "--headless", "--convert-to", "pdf", "--outdir", folder, path], check=True)
            assert open(folder + "/a.pdf", "rb").read().startswith(b"%PDF"), ending
