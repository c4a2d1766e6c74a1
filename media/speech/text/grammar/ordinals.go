package grammar

import "strings"

// OrdinalSuffix is a sign behind the digits of an ordinal.
type OrdinalSuffix struct {
	Suffix string
	Form   Form
}

// matchOrdinal speaks "1st", "2º" and the like.
func matchOrdinal(s *Scanner) Match {
	rest := s.Rest()
	n := s.ParseNumber(rest)
	if n.Size == 0 || n.Fraction != "" || !n.IsCardinal() || s.Ordinal == nil {
		return Match{}
	}
	for _, o := range s.Numerals.Suffixes {
		if strings.HasPrefix(rest[n.Size:], o.Suffix) && !WordAfter(rest, n.Size+len(o.Suffix)) {
			f := o.Form
			f.Ending = o.Suffix
			if s.AgreeOrdinal != nil {
				f = s.AgreeOrdinal(f, s.around(n.Size+len(o.Suffix)))
			}
			return Match{n.Size + len(o.Suffix), s.Ordinal(n.Value(), f), OtherMatch}
		}
	}
	return Match{}
}
