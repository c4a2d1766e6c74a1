package message

import "strings"

// Verstat returns the verification result of the caller's number (ATIS-1000074, 3GPP TS 24.229). The result is the
// verstat parameter of the URI in P-Asserted-Identity or From; "" if there is none.
func (m *Message) Verstat() string {
	for _, value := range append(m.HeaderValues("P-Asserted-Identity"), m.From.Value) {
		lower := strings.ToLower(value)
		i := strings.Index(lower, ";verstat=")
		if i < 0 {
			continue
		}
		word := value[i+len(";verstat="):]
		end := strings.IndexFunc(word, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
		})
		if end >= 0 {
			word = word[:end]
		}
		return word[:min(len(word), 64)]
	}
	return ""
}
