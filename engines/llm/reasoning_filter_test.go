package llm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReasoningFilterRemovesBlocksInPiecesOfAnyLength(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"<think>The user wants X.</think>Hello again.", "Hello again."},
		{"Hello. <thinking>secret\n\nplan</thinking> Yes, <b>we</b> are open.", "Hello.  Yes, <b>we</b> are open."},
		{"<THINK>a</Think>b<reasoning>c</reasoning>d", "bd"},
		{"Okay.<think>never ends", "Okay."},
		{"<think>a </thinking> b</think>c", "c"},
		{"3 < 4 and <thinker> stays", "3 < 4 and <thinker> stays"},
		{"ends with <thi", "ends with <thi"},
		{"<think></think>", ""},
		{"<<think>a</think>>", "<>"},
		{"no tags", "no tags"},
	} {
		for n := 1; n <= len(c.text); n++ {
			var f reasoningFilter
			var got strings.Builder
			for i := 0; i < len(c.text); i += n {
				got.WriteString(f.Add(c.text[i:min(i+n, len(c.text))]))
			}
			got.WriteString(f.Rest())
			assert.Equalf(t, c.want, got.String(), "%q in pieces of %d bytes", c.text, n)
		}
	}
}

func FuzzReasoningFilter(f *testing.F) {
	f.Add("<think>a</think>b", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = max(1, min(n, 64))
		var whole, pieces reasoningFilter
		want := whole.Add(text) + whole.Rest()
		var got strings.Builder
		for i := 0; i < len(text); i += n {
			got.WriteString(pieces.Add(text[i:min(i+n, len(text))]))
		}
		got.WriteString(pieces.Rest())
		assert.Equal(t, want, got.String())
	})
}
