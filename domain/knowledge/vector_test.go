package knowledge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain/knowledge"
)

func TestMeaningsAreComparedByTheirDirection(t *testing.T) {
	t.Parallel()
	a := knowledge.Pack([]float32{0.3, -0.1, 0})
	assert.Len(t, a, 3)
	assert.InDelta(t, 1, knowledge.Alike(a, knowledge.Pack([]float32{30, -10, 0})), 0.001)
	assert.InDelta(t, -1, knowledge.Alike(a, knowledge.Pack([]float32{-3, 1, 0})), 0.001)
	assert.InDelta(t, 0, knowledge.Alike(a, knowledge.Pack([]float32{0, 0, 5})), 0.001)
	assert.Zero(t, knowledge.Alike(a, knowledge.Pack([]float32{1})))
	assert.Zero(t, knowledge.Alike(knowledge.Pack([]float32{0, 0, 0}), a))
	assert.Zero(t, knowledge.Alike(nil, nil))
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-1, 1), 8, 8).Draw(t, "v")
		w := rapid.SliceOfN(rapid.Float32Range(-1, 1), 8, 8).Draw(t, "w")
		got := knowledge.Alike(knowledge.Pack(v), knowledge.Pack(w))
		assert.True(t, got >= -1.0001 && got <= 1.0001)
	})
}

func TestWhatMeansTheSameIsFoundBesideWhatHasTheWords(t *testing.T) {
	t.Parallel()
	s := knowledge.NewSearch[string]("where may I leave my car")
	s.LookAlike("parking", knowledge.Passage{Text: "The garage is behind the house."}, 0.6)
	s.LookAlike("car", knowledge.Passage{Text: "We rent you a car."}, 0.2)
	s.LookAlike("both", knowledge.Passage{Text: "Leave the car in the yard."}, 0.5)
	s.LookAlike("neither", knowledge.Passage{Text: "Lunch is at noon."}, 0.24)
	var found []string
	for _, h := range s.Best(5) {
		found = append(found, h.What)
		assert.Positive(t, h.Score)
	}
	assert.Equal(t, []string{"both", "parking", "car"}, found)
}
