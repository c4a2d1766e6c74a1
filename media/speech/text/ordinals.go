package text

import "strings"

// ordinalSuffix is a sign behind the digits of an ordinal.
type ordinalSuffix struct {
	suffix string
	form   form
}

// matchOrdinal speaks "1st", "2º" and the like.
func matchOrdinal(s *scanner) match {
	rest := s.rest()
	n := s.parseNumber(rest)
	if n.size == 0 || n.fraction != "" || !n.isCardinal() || s.ordinal == nil {
		return match{}
	}
	for _, o := range s.numerals.suffixes {
		if strings.HasPrefix(rest[n.size:], o.suffix) && !wordAfter(rest, n.size+len(o.suffix)) {
			f := o.form
			f.ending = o.suffix
			if s.agreeOrdinal != nil {
				f = s.agreeOrdinal(f, s.around(n.size+len(o.suffix)))
			}
			return match{n.size + len(o.suffix), s.ordinal(n.value(), f), otherMatch}
		}
	}
	return match{}
}
