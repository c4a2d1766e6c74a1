package domain_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
)

func TestACallersNumberIsShownAsItsTrunkMayTellIt(t *testing.T) {
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
		shown, caller := c.party.Read(c.trunk, "US")
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
		}}.Read(trunk, "US")
		if shown == "" || c.Withheld && (shown != domain.Anonymous || c.Asserted != "") || len(c.Diversions) > 10 || len(c.History) > 10 {
			t.Errorf("%q %+v", shown, c)
		}
	})
}

func TestNumbersAreWrittenAsTheTrunkWantsThem(t *testing.T) {
	for want, trunk := range map[string]domain.Trunk{
		"+442071838750":   {NumberFormat: "e164"},
		"442071838750":    {NumberFormat: "digits"},
		"02071838750":     {NumberFormat: "national", NumberCountry: "GB"},
		"011442071838750": {NumberFormat: "national", NumberCountry: "US"},
		"9#2071838750":    {NumberFormat: "national", NumberCountry: "GB", NumberStrip: "0", NumberAdd: "9#"},
		"0011442":         {NumberFormat: "digits", NumberStrip: "442071838750", NumberAdd: "0011442"},
	} {
		assert.Equal(t, want, trunk.Dialled("+442071838750"))
	}
	us := domain.Trunk{NumberFormat: "national", NumberCountry: "US", NumberAdd: "9"}
	assert.Equal(t, []string{"92025550100", "2025550100"}, []string{us.Dialled("+12025550100"), us.Written("+12025550100")}, "a caller id has no prefix")
}
