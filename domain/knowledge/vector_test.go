package knowledge_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain/knowledge"
)

func TestVectorsAreComparedByDirection(t *testing.T) {
	t.Parallel()
	a := knowledge.PackVector([]float32{0.3, -0.1, 0})
	assert.Len(t, a, 3)
	assert.InDelta(t, 1, knowledge.Similarity(a, knowledge.PackVector([]float32{30, -10, 0})), 0.001)
	assert.InDelta(t, -1, knowledge.Similarity(a, knowledge.PackVector([]float32{-3, 1, 0})), 0.001)
	assert.InDelta(t, 0, knowledge.Similarity(a, knowledge.PackVector([]float32{0, 0, 5})), 0.001)
	assert.Zero(t, knowledge.Similarity(a, knowledge.PackVector([]float32{1})))
	assert.Zero(t, knowledge.Similarity(knowledge.PackVector([]float32{0, 0, 0}), a))
	assert.Zero(t, knowledge.Similarity(nil, nil))
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-1, 1), 8, 8).Draw(t, "v")
		w := rapid.SliceOfN(rapid.Float32Range(-1, 1), 8, 8).Draw(t, "w")
		got := knowledge.Similarity(knowledge.PackVector(v), knowledge.PackVector(w))
		assert.True(t, got >= -1.0001 && got <= 1.0001)
	})
}

func TestSearchCombinesVectorsAndWords(t *testing.T) {
	t.Parallel()
	names := []string{"parking", "car", "both", "neither"}
	texts := []string{"The garage is behind the house.", "We rent you a car.", "Leave the car in the yard.", "Lunch is at noon."}
	var x knowledge.Index
	for i, near := range []float64{0.6, 0.2, 0.5, 0.24} {
		x.Add(7, i, knowledge.Passage{Text: texts[i]}, knowledge.PackVector([]float32{float32(near), float32(math.Sqrt(1 - near*near))}))
	}
	s := knowledge.NewSearch[string]("where may I leave my car")
	s.AddIndex("base", &x, knowledge.PackVector([]float32{1, 0}))
	var found []string
	for _, h := range s.BestHits(5) {
		found = append(found, names[h.Number])
		assert.Positive(t, h.Score)
		assert.Equal(t, "base", h.Index)
		assert.Equal(t, 7, h.Source)
	}
	assert.Equal(t, []string{"both", "parking", "car"}, found)
}
