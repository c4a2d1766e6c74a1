package llm

import (
	"strings"

	"github.com/callboard/callboard/media/speech/text"
)

// reasoningTags are the names of the tags between which models write their reasoning.
var reasoningTags = text.ReasoningTags() //nolint:gochecknoglobals // a table

// reasoningFilter removes reasoning blocks, such as <think>…</think>, from a text that arrives in pieces. A block
// without its end reaches to the end of the text.
type reasoningFilter struct {
	held string // the end of the text so far, if it may be the beginning of a tag
	open string // name of the open block; "": none
}

// Add returns the part of the text that is certainly outside of reasoning blocks and was not returned before.
func (f *reasoningFilter) Add(piece string) string {
	text := f.held + piece
	f.held = ""
	var out strings.Builder
	for {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			break
		}
		if f.open == "" {
			out.WriteString(text[:at])
		}
		text = text[at:]
		name, length := f.tag(text)
		switch {
		case length > 0:
			if f.open == "" {
				f.open = name
			} else {
				f.open = ""
			}
			text = text[length:]
		case length == 0:
			f.held = text
			return out.String()
		default:
			if f.open == "" {
				out.WriteByte('<')
			}
			text = text[1:]
		}
	}
	if f.open == "" {
		out.WriteString(text)
	}
	return out.String()
}

// Rest returns the text that Add has held back, and clears it.
func (f *reasoningFilter) Rest() string {
	rest := f.held
	f.held = ""
	if f.open != "" {
		return ""
	}
	return rest
}

// tag returns the name and the length of the tag at the beginning of a text that begins or ends a block. The length is
// 0 if the text may only be the beginning of such a tag, and -1 if there is no such tag.
func (f *reasoningFilter) tag(text string) (name string, length int) {
	names, begin := reasoningTags, "<"
	if f.open != "" {
		names, begin = []string{f.open}, "</"
	}
	length = -1
	for _, n := range names {
		whole := begin + n + ">"
		switch {
		case len(text) >= len(whole) && strings.EqualFold(text[:len(whole)], whole):
			return n, len(whole)
		case len(text) < len(whole) && strings.EqualFold(text, whole[:len(text)]):
			length = 0
		}
	}
	return "", length
}
