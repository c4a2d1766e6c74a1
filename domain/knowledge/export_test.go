package knowledge

// Alike is how near two packed meanings are.
func Alike(a, b []byte) float64 { return cosine(a, norm(a), b, norm(b)) }
