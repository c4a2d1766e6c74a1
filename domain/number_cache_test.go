package domain_test

import (
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestCachedNumbersEqualTables(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(3, 9))
	var m domain.NumberCache
	for area := 200; area < 1000; area++ {
		exchange := dice.IntN(1000)
		for range 2 {
			text := fmt.Sprintf("+1%d%03d%04d", area, exchange, dice.IntN(10000))
			want, err := domain.NumberFromE164(text)
			require.NoError(t, err)
			got, err := m.FromE164(text)
			require.NoError(t, err)
			require.Equal(t, []any{want.E164, want.Country, want.Kind, want.Parsed.GetNationalNumber()},
				[]any{got.E164, got.Country, got.Kind, got.Parsed.GetNationalNumber()}, text)
		}
	}
	for _, text := range []string{"+4930123456", "+390612345678", "+18765550100", "+881612345678"} {
		want, err := domain.NumberFromE164(text)
		require.NoError(t, err)
		got, err := m.FromE164(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := m.FromE164("110")
	require.Error(t, err)
}

func TestCachedParserReadsTheSame(t *testing.T) {
	t.Parallel()
	var m domain.NumberCache
	for range 2 {
		for _, text := range []string{"+12025550100", " +12025550100 ", "(202) 555-0100", "+4930123456", "911", "+1911", "+49110", "12345", "", "+1 202 555 01000", "+10025550100"} {
			want, errWant := domain.ParseNumber(text, "US")
			got, err := m.ParseNumber(text, "US")
			require.Equal(t, errWant, err, text)
			require.Equal(t, want, got, text)
		}
	}
}

// The cache is correct only if no number pattern of a country with code +1 depends on digits after the sixth digit.
// The cache excludes countries with other patterns.
func TestSixDigitsDetermineNANPNumber(t *testing.T) {
	t.Parallel()
	all, err := phonenumbers.MetadataCollection()
	require.NoError(t, err)
	seen := 0
	for _, m := range all.GetMetadata() {
		if m.GetCountryCode() != 1 {
			continue
		}
		for what, d := range map[string]*phonenumbers.PhoneNumberDesc{
			"general": m.GetGeneralDesc(), "premium": m.GetPremiumRate(), "free": m.GetTollFree(), "shared": m.GetSharedCost(), "voip": m.GetVoip(),
			"personal": m.GetPersonalNumber(), "pager": m.GetPager(), "uan": m.GetUan(), "voicemail": m.GetVoicemail(),
			"fixed": m.GetFixedLine(), "mobile": m.GetMobile(),
		} {
			seen++
			most := 6
			if lead := m.GetLeadingDigits(); lead == "246" || lead == "658|876" {
				most = 10
			}
			assert.LessOrEqual(t, lastBoundDigit(t, d.GetNationalNumberPattern()), most, "%s of %s", what, m.GetId())
		}
		assert.LessOrEqual(t, lastBoundDigit(t, m.GetLeadingDigits()), 6, m.GetId())
	}
	assert.Greater(t, seen, 200)
	assert.Equal(t, 6, lastBoundDigit(t, `24(?:5\d[0-6]1|6)\d{4}`))
	assert.Equal(t, 3, lastBoundDigit(t, `(?:2[0-4]|30)[5-9]\d{7}`))
}

// lastBoundDigit returns the position, from 1, of the last digit that a number pattern restricts.
func lastBoundDigit(t *testing.T, pattern string) int {
	t.Helper()
	r, err := syntax.Parse(pattern, syntax.Perl)
	require.NoError(t, err)
	most := 0
	var walk func(r *syntax.Regexp, from map[int]bool) (to map[int]bool)
	walk = func(r *syntax.Regexp, from map[int]bool) map[int]bool {
		to := map[int]bool{}
		switch r.Op { //nolint:exhaustive // unknown operators fail
		case syntax.OpEmptyMatch:
			return from
		case syntax.OpLiteral, syntax.OpCharClass:
			size, free := max(1, len(r.Rune)), false
			if r.Op == syntax.OpCharClass {
				size, free = 1, len(r.Rune) == 2 && r.Rune[0] == '0' && r.Rune[1] == '9'
			}
			for at := range from {
				to[at+size] = true
				if !free {
					most = max(most, at+size)
				}
			}
			return to
		case syntax.OpCapture:
			return walk(r.Sub[0], from)
		case syntax.OpConcat:
			for _, s := range r.Sub {
				from = walk(s, from)
			}
			return from
		case syntax.OpAlternate:
			for _, s := range r.Sub {
				for at := range walk(s, from) {
					to[at] = true
				}
			}
			return to
		case syntax.OpQuest:
			for at := range walk(r.Sub[0], from) {
				to[at] = true
			}
			for at := range from {
				to[at] = true
			}
			return to
		case syntax.OpRepeat:
			for n := range r.Max {
				if n >= r.Min {
					for at := range from {
						to[at] = true
					}
				}
				from = walk(r.Sub[0], from)
			}
			for at := range from {
				to[at] = true
			}
			return to
		default:
			require.Fail(t, "a pattern of a new kind", "%s in %s", r, pattern)
			return nil
		}
	}
	walk(r, map[int]bool{0: true})
	return most
}
