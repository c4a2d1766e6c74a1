package knowledge

// Similarity returns the cosine similarity of two packed vectors.
func Similarity(a, b []byte) float64 { return cosineSimilarity(a, vectorLength(a), b, vectorLength(b)) }
