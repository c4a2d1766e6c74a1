package domain

// values returns enumeration constants as strings, for schemas and validation.
func values[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = string(v)
	}
	return out
}
