package knowledge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain/knowledge"
)

func TestMarkdownIsSplitAtHeadings(t *testing.T) {
	t.Parallel()
	got := knowledge.SplitPassages("Before.\n# House\nOne.\n\nTwo.\n## Garden\nThree.\n# Street\nFour.", true)
	assert.Equal(t, []knowledge.Passage{
		{Text: "Before."}, {Heading: "House", Text: "One.\n\nTwo."}, {Heading: "House › Garden", Text: "Three."}, {Heading: "Street", Text: "Four."},
	}, got)
	assert.Equal(t, []knowledge.Passage{{Text: "# House\n\nOne."}}, knowledge.SplitPassages("# House\nOne.", false), "a # means nothing in plain text")
}

func TestSplittingKeepsEveryWordAndBoundsPassages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zäж]{1,12}[.;]?`), 0, 800).Draw(t, "words")
		gap := rapid.SampledFrom([]string{" ", "\n", "\n\n"}).Draw(t, "gap")
		text := strings.Join(words, gap)
		var back []string
		for _, p := range knowledge.SplitPassages(text, true) {
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
	names := []string{"heading", "word", "both", "none"}
	texts := map[string]knowledge.Passage{
		"heading": {Heading: "Opening hours", Text: "From nine to five."},
		"word":    {Text: "The hour of the visit is told by phone."},
		"both":    {Text: "Our opening hours are long."},
		"none":    {Text: "Parking is behind the house."},
	}
	order := func(indexes ...*knowledge.Index) (found []string) {
		s := knowledge.NewSearch[string]("Opening hours")
		for _, x := range indexes {
			s.AddIndex("", x, nil)
		}
		assert.Len(t, s.BestHits(1), 1)
		for _, h := range s.BestHits(10) {
			found = append(found, names[h.Number])
		}
		return found
	}
	one, two, three := new(knowledge.Index), new(knowledge.Index), new(knowledge.Index)
	for i, name := range names {
		one.Add(1, i, texts[name], nil)
		if i < 2 {
			two.Add(1, i, texts[name], nil)
		} else {
			three.Add(1, i, texts[name], nil)
		}
	}
	assert.Equal(t, []string{"heading", "both", "word"}, order(one))
	assert.Equal(t, order(one), order(two, three), "two indexes are ranked as if they were one")
}
