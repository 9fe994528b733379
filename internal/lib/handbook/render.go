package handbook

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// render renders a page. Links lead to the pages of the site; a link to a file that is not part of
// it becomes text.
func (b *builder) render(source string, content []byte) (*page, error) {
	made := &page{source: source, name: b.names[source]}
	root := markdown.Parser().Parse(text.NewReader(content), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	var dead []*ast.Link
	err := ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Heading:
			made.addHeading(node, content)
		case *ast.Link:
			if to, found := b.target(source, string(node.Destination)); found {
				node.Destination = []byte(to)
			} else {
				dead = append(dead, node)
			}
		case *ast.Image:
			to, found := b.target(source, string(node.Destination))
			if !found {
				return ast.WalkStop, errors.New("there is no picture " + string(node.Destination))
			}
			node.Destination = []byte(to)
		case *ast.Text:
			made.addText(string(node.Segment.Value(content)))
		case *ast.String:
			made.addText(string(node.Value))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range node.Lines().Len() {
				line := node.Lines().At(i)
				made.addText(string(line.Value(content)))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	for _, node := range dead {
		for child := node.FirstChild(); child != nil; child = node.FirstChild() {
			node.Parent().InsertBefore(node.Parent(), node, child)
		}
		node.Parent().RemoveChild(node.Parent(), node)
	}
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, content, root); err != nil {
		return nil, err
	}
	made.body = finish(out.Bytes())
	return made, nil
}

// addHeading starts a section.
func (p *page) addHeading(node *ast.Heading, content []byte) {
	id, _ := node.AttributeString("id")
	anchor, _ := id.([]byte)
	title := plainText(node, content)
	if p.title == "" {
		p.title = title
	}
	if node.Level > 1 {
		p.headings = append(p.headings, heading{node.Level, string(anchor), title})
	}
	p.sections = append(p.sections, section{anchor: string(anchor), title: title, level: node.Level})
}

// addText adds words to the current section.
func (p *page) addText(words string) {
	if len(p.sections) == 0 {
		p.sections = append(p.sections, section{})
	}
	last := &p.sections[len(p.sections)-1]
	last.words = append(last.words, wordsOf(words)...)
}

// plainText returns the text of a node without its marks.
func plainText(node ast.Node, content []byte) string {
	var out strings.Builder
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if leaf, ok := node.(*ast.Text); ok && entering {
			out.Write(leaf.Segment.Value(content))
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

var headingEnd = regexp.MustCompile(`(?s)<h([2-6]) id="([^"]+)">(.*?)</h[2-6]>`)

// finish lets wide tables scroll by themselves, and adds links to headings. Tags in the text of a
// page are escaped, so these are real ones.
func finish(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte("<table>"), []byte(`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>`))
	body = bytes.ReplaceAll(body, []byte("</table>"), []byte("</table></div>"))
	return headingEnd.ReplaceAll(body, []byte(`<h$1 id="$2">$3 <a class="anchor" href="#$2" aria-label="Link to this section">#</a></h$1>`))
}

// anchors makes the anchors that hosts of repositories make: lower case, spaces as dashes, and no
// punctuation. A second heading with the same text gets a number.
type anchors map[string]int

// Generate returns the anchor of a heading.
func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	var out strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(string(value))) {
		switch {
		case r == ' ':
			out.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			out.WriteRune(r)
		}
	}
	anchor := out.String()
	a[anchor]++
	if again := a[anchor] - 1; again > 0 {
		anchor += "-" + strconv.Itoa(again)
	}
	return []byte(anchor)
}

// Put is for anchors that a page gives itself, which none does.
func (a anchors) Put([]byte) {}
