package domain

// values are the constants of a type as text, for documents and checks.
func values[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = string(v)
	}
	return out
}
