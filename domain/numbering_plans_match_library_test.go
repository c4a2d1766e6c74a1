package domain_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/nyaruka/phonenumbers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

// addFirstDigits adds the digits with which a match of the pattern can start to digits. empty reports whether the
// pattern also matches the empty text.
func addFirstDigits(re *syntax.Regexp, digits map[int]bool) (empty bool) {
	switch re.Op { //nolint:exhaustive // the others match the empty text or are ignored
	case syntax.OpLiteral:
		digits[int(re.Rune[0]-'0')] = true
		return false
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if unicode.IsDigit(r) && r < 128 {
					digits[int(r-'0')] = true
				}
			}
		}
		return false
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !addFirstDigits(sub, digits) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			empty = addFirstDigits(sub, digits) || empty
		}
		return empty
	case syntax.OpCapture, syntax.OpPlus:
		return addFirstDigits(re.Sub[0], digits)
	case syntax.OpQuest, syntax.OpStar:
		addFirstDigits(re.Sub[0], digits)
		return true
	case syntax.OpRepeat:
		return addFirstDigits(re.Sub[0], digits) || re.Min == 0
	default: // the empty text, or an ignored operator
		return true
	}
}

// plansOfTables derives the numbering plans from the metadata of the phonenumbers library.
func plansOfTables(t *testing.T) map[int]domain.NumberPlan {
	t.Helper()
	all, err := phonenumbers.MetadataCollection()
	require.NoError(t, err)
	plans := make(map[int]domain.NumberPlan)
	for code := range phonenumbers.GetSupportedCallingCodes() {
		region := phonenumbers.GetRegionCodeForCountryCode(code)
		i := slices.IndexFunc(all.GetMetadata(), func(m *phonenumbers.PhoneMetadata) bool {
			return m.GetId() == region && int(m.GetCountryCode()) == code
		})
		if i < 0 || code == 1 {
			continue
		}
		m := all.GetMetadata()[i]
		re, err := syntax.Parse(m.GetNationalPrefixForParsing(), syntax.Perl)
		require.NoError(t, err)
		stripped := map[int]bool{0: true}
		if m.GetNationalPrefixForParsing() != "" && addFirstDigits(re, stripped) {
			continue
		}
		var p domain.NumberPlan
		for _, n := range m.GetGeneralDesc().GetPossibleLength() {
			if n >= 7 && int(n)+len(strconv.Itoa(code)) > 8 {
				p.Lengths |= 1 << n
			}
		}
		for d := range stripped {
			p.Not |= 1 << d
		}
		if p.Lengths != 0 {
			plans[code] = p
		}
	}
	return plans
}

func TestNumberingPlansEqualTables(t *testing.T) {
	t.Parallel()
	want, have := plansOfTables(t), domain.Plans()
	if assert.Equal(t, want, have) {
		return
	}
	var codes []int
	for code := range want {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	var b strings.Builder
	for i, code := range codes {
		if i%5 == 0 {
			b.WriteString("\n\t")
		}
		fmt.Fprintf(&b, "%d: {%#x, %#x}, ", code, want[code].Lengths, want[code].Not)
	}
	t.Log("the table as it should be:", b.String())
}

// Emergency numbers are shorter than all numbers that splitCleanE164 accepts without a full parse.
func TestEmergencyNumbersAreShorterThanFullNumbers(t *testing.T) {
	t.Parallel()
	all, err := phonenumbers.ShortNumberMetadataCollection()
	require.NoError(t, err)
	for _, m := range all.GetMetadata() {
		for _, n := range m.GetEmergency().GetPossibleLength() {
			assert.Less(t, n, int32(7), m.GetId())
		}
	}
}

var (
	areaCode    = regexp.MustCompile(`^[2-9]\d{9}$`)
	serviceCode = regexp.MustCompile(`^\d11`)
)

// For numbers that need no full parse, the result equals that of the full parser.
func TestE164NumbersEqualParser(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(7, 7))
	read := 0
	for code := range phonenumbers.GetSupportedCallingCodes() {
		for size := 5; size <= 13; size++ {
			for range 6 {
				digits := []byte("+" + strconv.Itoa(code))
				for range size {
					digits = append(digits, byte('0'+dice.IntN(10)))
				}
				text := string(digits)
				got, err := domain.E164(text, "DE")
				if err == domain.ErrPhoneForbidden { //nolint:errorlint // the exact error
					continue
				}
				n, bad := phonenumbers.Parse(text, "DE")
				full := bad == nil && phonenumbers.IsPossibleNumberWithReason(n) == phonenumbers.IS_POSSIBLE &&
					(n.GetCountryCode() != 1 || areaCode.MatchString(phonenumbers.GetNationalSignificantNumber(n)) && !serviceCode.MatchString(phonenumbers.GetNationalSignificantNumber(n)))
				require.Equal(t, full, err == nil, text)
				if !full {
					continue
				}
				read++
				require.Equal(t, phonenumbers.Format(n, phonenumbers.E164), got, text)
				known, err := domain.NumberFromE164(got)
				require.NoError(t, err, text)
				again, err := phonenumbers.Parse(got, "")
				require.NoError(t, err, text)
				require.Equal(t, []any{again.GetCountryCode(), again.GetNationalNumber(), again.GetItalianLeadingZero(), phonenumbers.GetNumberType(again)},
					[]any{known.Parsed.GetCountryCode(), known.Parsed.GetNationalNumber(), known.Parsed.GetItalianLeadingZero(), known.Kind}, text)
			}
		}
	}
	assert.Greater(t, read, 1500)
}
