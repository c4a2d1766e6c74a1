package domain_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
)

// assertSameAsParsePhone checks that E164 gives the same result as ParsePhone, which always uses the tables of the
// phonenumbers library.
func assertSameAsParsePhone(t require.TestingT, text, country string) {
	want, _, wantErr := domain.ParsePhone(text, country)
	got, err := domain.E164(text, country)
	require.Equal(t, []any{want, wantErr}, []any{got, err}, "%q in %q", text, country)
}

func TestE164EqualsParsePhone(t *testing.T) {
	t.Parallel()
	countries := rapid.SampledFrom([]string{"", "US", "ca", "GB", "DE", "JM", "XX"})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`\+1[0-9]{10}`), rapid.StringMatching(`\+1[0-9]{8,11}`), rapid.StringMatching(`\+1[2-9](11|00|9[0-9])[0-9]{7}`),
			rapid.StringMatching(`[+1]?1[-. ]?[0-9]{3}[-. ]?[0-9]{3}[-. ]?[0-9]{4}`), rapid.StringMatching(`\+[0-9]{11}`),
			rapid.StringMatching(`\+1[0-9a-z٠-٩]{10}`), rapid.String(),
		).Draw(t, "text")
		assertSameAsParsePhone(t, text, countries.Draw(t, "country"))
	})
}

func TestE164AgreesOnEveryAreaCode(t *testing.T) {
	t.Parallel()
	for area := range 1000 {
		for _, line := range []string{"5550100", "9110911", "0000000", "1234567"} {
			assertSameAsParsePhone(t, fmt.Sprintf("+1%03d%s", area, line), "US")
		}
	}
}

func TestE164AcceptsCommonNotations(t *testing.T) {
	t.Parallel()
	got, err := domain.E164("(202) 555-0100", "US")
	require.NoError(t, err)
	assert.Equal(t, "+12025550100", got)
}

func BenchmarkE164(b *testing.B) {
	for name, text := range map[string]string{"clean": "+12025550100", "written": "(202) 555-0100", "abroad": "+442071838750"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := domain.E164(text, "US"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
