package knowledge

// Similarity is how near two packed meanings are.
func Similarity(a, b []byte) float64 { return cosineSimilarity(a, vectorLength(a), b, vectorLength(b)) }
