package knowledge

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// parseHTML returns the title and the text of an HTML page, with Markdown headings. Scripts, styles, navigation and
// form controls are skipped.
func parseHTML(page string) (title, text string) {
	z := html.NewTokenizer(strings.NewReader(page))
	var out strings.Builder
	var named strings.Builder
	skip, inTitle := 0, false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(named.String()), " "), normalizeSpace(out.String())
		case html.StartTagToken:
			t := z.Token()
			switch {
			case isHidden(t.DataAtom):
				skip++
			case t.DataAtom == atom.Title:
				inTitle = true
			case skip == 0:
				out.WriteString(textBefore(t.DataAtom))
			}
		case html.EndTagToken:
			t := z.Token()
			switch {
			case isHidden(t.DataAtom):
				skip = max(0, skip-1)
			case t.DataAtom == atom.Title:
				inTitle = false
			case skip == 0:
				out.WriteString(textAfter(t.DataAtom))
			}
		case html.SelfClosingTagToken:
			if t := z.Token(); skip == 0 {
				out.WriteString(textBefore(t.DataAtom))
			}
		case html.TextToken:
			text := string(z.Text())
			if inTitle {
				named.WriteString(html.UnescapeString(text))
			} else if skip == 0 {
				out.WriteString(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(html.UnescapeString(text)))
			}
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// isHidden reports whether the content of an element is not part of the readable text.
func isHidden(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Nav, atom.Iframe, atom.Object, atom.Select, atom.Button:
		return true
	}
	return false
}

// headingLevel returns the level of a heading element, 1 to 6, or 0 for other elements.
func headingLevel(a atom.Atom) int {
	for i, h := range []atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6} {
		if a == h {
			return i + 1
		}
	}
	return 0
}

// textBefore returns the text that a start tag becomes in the output: a Markdown prefix, a line break, or nothing.
func textBefore(a atom.Atom) string {
	if n := headingLevel(a); n > 0 {
		return "\n\n" + strings.Repeat("#", n) + " "
	}
	switch a {
	case atom.Br, atom.Tr:
		return "\n"
	case atom.Li:
		return "\n- "
	case atom.Td, atom.Th:
		return " "
	}
	return textAfter(a)
}

// textAfter returns the text that an end tag becomes in the output, such as a line break.
func textAfter(a atom.Atom) string {
	if headingLevel(a) > 0 {
		return "\n\n"
	}
	switch a {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Table, atom.Ul, atom.Ol, atom.Blockquote, atom.Pre,
		atom.Dl, atom.Hr, atom.Form, atom.Aside, atom.Figure:
		return "\n\n"
	case atom.Dt, atom.Dd:
		return "\n"
	}
	return ""
}

// normalizeSpace removes redundant whitespace and empty lines.
func normalizeSpace(text string) string {
	var b strings.Builder
	empty := 0
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" || line == "-" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
			if empty > 0 {
				b.WriteString("\n")
			}
		}
		empty = 0
		b.WriteString(line)
	}
	return b.String()
}
