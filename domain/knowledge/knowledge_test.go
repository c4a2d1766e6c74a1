package knowledge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain/knowledge"
)

func TestAMarkedTextIsCutAtItsHeadings(t *testing.T) {
	t.Parallel()
	got := knowledge.Cut("Before.\n# House\nOne.\n\nTwo.\n## Garden\nThree.\n# Street\nFour.", true)
	assert.Equal(t, []knowledge.Passage{
		{Text: "Before."}, {Heading: "House", Text: "One.\n\nTwo."}, {Heading: "House › Garden", Text: "Three."}, {Heading: "Street", Text: "Four."},
	}, got)
	assert.Equal(t, []knowledge.Passage{{Text: "# House\n\nOne."}}, knowledge.Cut("# House\nOne.", false), "a # means nothing in plain text")
}

func TestNoWordIsLostByCuttingAndNoPassageIsTooLong(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zäж]{1,12}[.;]?`), 0, 800).Draw(t, "words")
		gap := rapid.SampledFrom([]string{" ", "\n", "\n\n"}).Draw(t, "gap")
		text := strings.Join(words, gap)
		var back []string
		for _, p := range knowledge.Cut(text, true) {
			if len(p.Text) > 1700 || p.Text == "" {
				t.Fatalf("a passage of %d bytes", len(p.Text))
			}
			back = append(back, strings.Fields(p.Text)...)
		}
		if strings.Join(back, " ") != strings.Join(words, " ") {
			t.Fatalf("%q became %q", text, back)
		}
	})
}

func TestRareWordsAndHeadingsCountMore(t *testing.T) {
	t.Parallel()
	s := knowledge.NewSearch[string]("Opening hours")
	s.Look("heading", knowledge.Passage{Heading: "Opening hours", Text: "From nine to five."})
	s.Look("word", knowledge.Passage{Text: "The hour of the visit is told by phone."})
	s.Look("both", knowledge.Passage{Text: "Our opening hours are long."})
	s.Look("none", knowledge.Passage{Text: "Parking is behind the house."})
	var order []string
	for _, h := range s.Best(10) {
		order = append(order, h.What)
	}
	assert.Equal(t, []string{"heading", "both", "word"}, order)
	assert.Len(t, s.Best(1), 1)
}
