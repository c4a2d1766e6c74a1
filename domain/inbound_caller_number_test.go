package domain_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestCallerNumberFollowsTrunkSettings(t *testing.T) {
	trusted := &domain.Trunk{CallerIDHeaders: []string{domain.HeaderAsserted, domain.HeaderRemote}}
	stranger := &domain.Trunk{}
	asserted := map[string]string{"P-Asserted-Identity": `"Ann, B" <sip:+12025550177;verstat=TN-Validation-Passed@carrier.example>, <tel:+12025550178>`}
	private := map[string]string{"P-Asserted-Identity": "<sip:+12025550177@carrier.example>", "Privacy": "id;critical"}
	for name, c := range map[string]struct {
		trunk *domain.Trunk
		party domain.CallingParty
		shown string
		want  domain.Caller
	}{
		"a plain number":             {stranger, domain.CallingParty{From: "2025550123", Name: "Ann"}, "+12025550123", domain.Caller{Name: "Ann"}},
		"a believed trunk's word":    {trusted, domain.CallingParty{From: "1000", Header: asserted, Verstat: "TN-Validation-Passed"}, "+12025550177", domain.Caller{Asserted: "+12025550177", Verstat: "TN-Validation-Passed"}},
		"another one's is stripped":  {stranger, domain.CallingParty{From: "+12025550123", Header: asserted, Verstat: "TN-Validation-Passed"}, "+12025550123", domain.Caller{}},
		"withheld by privacy":        {trusted, domain.CallingParty{From: "+12025550177", Name: "Ann", Header: private}, "anonymous", domain.Caller{Withheld: true}},
		"withheld by its spelling":   {stranger, domain.CallingParty{From: "Anonymous"}, "anonymous", domain.Caller{Withheld: true}},
		"withheld by the older word": {trusted, domain.CallingParty{From: "1", Header: map[string]string{"Remote-Party-Id": "<sip:+12025550177@x>;privacy=full"}}, "anonymous", domain.Caller{Withheld: true}},
		"no number at all":           {stranger, domain.CallingParty{From: "front.desk"}, "front.desk", domain.Caller{}},
		"the way it came": {
			stranger,
			domain.CallingParty{From: "+12025550123", Header: map[string]string{
				"Diversion":    `"x, y" <sip:2025550111@a.example>;reason=no-answer;counter=1, <sip:anonymous@b.example>;reason="user-busy"`,
				"History-Info": "<sip:+12025550111@a.example>;index=1, <sip:+12025550100@b.example?Reason=SIP%3Bcause%3D302>;index=1.1",
				"Identity":     "eyJ.x.y;info=<https://cert.example/1>;alg=ES256",
			}},
			"+12025550123",
			domain.Caller{
				Identity:   "eyJ.x.y;info=<https://cert.example/1>;alg=ES256",
				Diversions: []domain.Diverted{{From: "+12025550111", Reason: "no-answer"}, {From: "anonymous", Reason: "user-busy"}},
				History:    []string{"<sip:+12025550111@a.example>;index=1", "<sip:+12025550100@b.example?Reason=SIP%3Bcause%3D302>;index=1.1"},
			},
		},
	} {
		shown, caller := c.party.ReadCaller(c.trunk, "US")
		assert.Equal(t, c.shown, shown, name)
		assert.Equal(t, c.want, *caller, name)
	}
}

func FuzzReadCaller(f *testing.F) {
	f.Add("anonymous", `"a\" <sip:x@y>`, "<sip:1@h>;reason=", "id")
	f.Fuzz(func(t *testing.T, from, diversion, asserted, privacy string) {
		trunk := &domain.Trunk{CallerIDHeaders: []string{domain.HeaderAsserted}}
		shown, c := domain.CallingParty{From: from, Name: from, Header: map[string]string{
			"Diversion": diversion, "History-Info": diversion, "P-Asserted-Identity": asserted, "Privacy": privacy, "Identity": diversion,
		}}.ReadCaller(trunk, "US")
		if shown == "" || c.Withheld && (shown != domain.Anonymous || c.Asserted != "") || len(c.Diversions) > 10 || len(c.History) > 10 {
			t.Errorf("%q %+v", shown, c)
		}
	})
}

func TestTrunkDialsSameNumberOrNone(t *testing.T) {
	t.Parallel()
	const us, gb = "+12025550100", "+442071838750"
	digits, national := domain.FormatDigits, domain.FormatNational
	for _, c := range []struct {
		to, format, country, strip, add string
		dialled, approved               string // result without and with an operator's approval of the rewriting; "": refused
	}{
		{gb, "e164", "", "", "", gb, gb},
		{gb, digits, "", "", "", "442071838750", "442071838750"},
		{gb, national, "GB", "", "", "02071838750", "02071838750"},
		{gb, national, "US", "", "", "011442071838750", "011442071838750"},
		{us, "e164", "", "+", "", "12025550100", "12025550100"},
		{us, "e164", "", "+", "00", "0012025550100", "0012025550100"},
		{us, digits, "", "", "011", "01112025550100", "01112025550100"},
		{us, national, "US", "", "1", "12025550100", "12025550100"},
		{us, national, "US", "", "9", "", "92025550100"},
		{us, "e164", "", "+", "9", "", "912025550100"},
		{us, "e164", "", "", "7777#", "", "7777#+12025550100"},
		{us, digits, "", "5", "7777", "", "777712025550100"},
		{gb, national, "GB", "0", "9#", "", "9#2071838750"},
		{us, "e164", "", "+1", "", "", ""},                     // is read as a number of Egypt
		{us, digits, "", "12025550100", "911", "", ""},         // emergency
		{us, digits, "", "", "911", "", ""},                    // emergency number with more digits
		{us, digits, "", "1202555", "", "", ""},                // short
		{us, digits, "", "1202555", "1900555", "", ""},         // premium rate
		{us, digits, "", "1202555", "0088216", "", ""},         // satellite
		{us, digits, "", "", "0088216", "", ""},                // international and not a valid number
		{us, digits, "", "1202555", "4420794", "", ""},         // another country
		{us, digits, "", "12025550100", "12025550177", "", ""}, // another number
		{us, "e164", "", "+1202", "", "", ""},                  // local number without an area
		{us, national, "US", "202", "900", "", ""},             // premium rate, as dialed within the country
		{gb, digits, "", "442071838750", "0011442", "", ""},    // not a valid number
		{"+12025570911", digits, "", "12025570", "", "", ""},   // emergency
		{"+19115550100", "e164", "", "", "", "", ""},           // not a valid number
		{"+49110", national, "DE", "", "", "", ""},             // emergency within the country
		{"+493012345678", national, "DE", "", "0", "", ""},     // is read as a number of Greece
		{"+15005550001", "e164", "", "", "", "+15005550001", "+15005550001"},
	} {
		trunk := domain.Trunk{NumberFormat: c.format, NumberCountry: c.country, NumberStrip: c.strip, NumberAdd: c.add}
		for _, want := range []string{c.dialled, c.approved} {
			got, err := trunk.DialString(c.to)
			assert.Equal(t, want, got, "%+v approved %v", c, trunk.RewriteApproved)
			if want == "" {
				assert.Equal(t, domain.CodeDestinationNotAllowed, domain.CodeOf(err), "%+v", c)
			} else {
				require.NoError(t, err, "%+v", c)
			}
			trunk.RewriteApproved = true
		}
	}
	trunk := domain.Trunk{NumberFormat: national, NumberCountry: "US", NumberAdd: "9"}
	assert.Equal(t, "2025550100", trunk.FormatNumber(us), "a caller id has no prefix")
}
