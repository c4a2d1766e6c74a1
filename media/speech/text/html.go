package text

import (
	"html"
	"strings"

	"github.com/callboard/callboard/media/speech/text/grammar"
)

// removeHTML removes comments and tags, and decodes entities. Tags that end a block become line breaks; headings and
// list items become the marks of Markdown.
func removeHTML(s string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(s, '<')
		if at < 0 {
			out.WriteString(s)
			return html.UnescapeString(strings.ReplaceAll(out.String(), "&nbsp;", " "))
		}
		out.WriteString(s[:at])
		s = s[at:]
		size, replacement := tagAt(s)
		if size == 0 {
			size, replacement = 1, "<"
		}
		out.WriteString(replacement)
		s = s[size:]
	}
}

// tagAt returns the size of the comment or tag at the beginning of s and the text that replaces it. The size is 0 if "<"
// is a sign.
func tagAt(s string) (size int, replacement string) {
	if strings.HasPrefix(s, "<!--") {
		if end := strings.Index(s, "-->"); end >= 0 {
			return end + 3, ""
		}
		return len(s), ""
	}
	end := strings.IndexAny(s[1:min(len(s), grammar.TagMost)], "<>\n")
	if end < 1 || s[1+end] != '>' {
		return 0, ""
	}
	content := s[1 : 1+end]
	if strings.Contains(content, "@") && !strings.Contains(content, " ") || strings.Contains(content, "://") && !strings.Contains(content, "=\"") {
		return end + 2, content // an address in angle brackets
	}
	name, attributes, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(content, "/"), "/"), " ")
	if name == "" || !isASCIILetter(name[0]) && name[0] != '!' && name[0] != '?' {
		return 0, ""
	}
	if attributes = strings.TrimSpace(attributes); attributes != "" && !strings.Contains(attributes, "=") && name[0] != '!' {
		return 0, ""
	}
	return end + 2, blockMark(strings.ToLower(name), content[0] == '/')
}

// blockMark returns the line breaks and the Markdown mark that stand for a tag.
func blockMark(name string, closing bool) string {
	switch name {
	case "br", "tr", "ul", "ol", "table", "div", "section":
		return "\n"
	case "p":
		return "\n\n"
	case "hr":
		return "\n---\n"
	case "li":
		if closing {
			return "\n"
		}
		return "\n- "
	case "h1", "h2", "h3", "h4", "h5", "h6":
		if closing {
			return "\n"
		}
		return "\n# "
	case "td", "th":
		if closing {
			return ", "
		}
	}
	return ""
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
