package text

import (
	"slices"
	"strings"
)

// reasoningTags name the elements in which models write what the caller shall not hear.
var reasoningTags = []string{"think", "thinking", "thought", "reasoning", "reflection", "scratchpad"}

// ReasoningTags returns the names of the elements in which models write their reasoning.
func ReasoningTags() []string { return slices.Clone(reasoningTags) }

// removeReasoning removes the reasoning of a model. A block without its end extends to the end of the text. Text before
// an end without a start is reasoning too, because some servers send the start tag in the prompt.
func removeReasoning(s string) string {
	var out strings.Builder
	open := false
	for {
		at, size, closing := nextReasoningTag(s)
		switch {
		case at < 0 && open:
			return out.String()
		case at < 0:
			out.WriteString(s)
			return out.String()
		case closing && !open:
			out.Reset()
		case !open:
			out.WriteString(s[:at])
		}
		open = !closing
		s = s[at+size:]
	}
}

// nextReasoningTag returns the place and the size of the next start or end tag, or -1.
func nextReasoningTag(s string) (at, size int, closing bool) {
	for at = 0; ; at++ {
		next := strings.IndexByte(s[at:], '<')
		if next < 0 {
			return -1, 0, false
		}
		at += next
		name, rest := s[at+1:], 1
		if closing = strings.HasPrefix(name, "/"); closing {
			name, rest = name[1:], 2
		}
		end := strings.IndexByte(name[:min(len(name), 80)], '>')
		if end < 0 {
			continue
		}
		word, _, _ := strings.Cut(name[:end], " ")
		for _, tag := range reasoningTags {
			if strings.EqualFold(word, tag) {
				return at, rest + end + 1, closing
			}
		}
	}
}
