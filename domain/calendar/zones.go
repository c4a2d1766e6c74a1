package calendar

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the zones must not depend on what the machine has installed

	"github.com/nyaruka/phonenumbers"

	"github.com/callboard/callboard/domain"
)

// Zones caches loaded time zones and parsed numbers. It must not be used concurrently.
type Zones struct {
	known   map[string]*time.Location
	numbers domain.NumberCache
}

// NewZones returns an empty cache.
func NewZones() *Zones { return &Zones{known: make(map[string]*time.Location)} }

// Load returns the zone with a name of the time-zone database, or nil.
func (z *Zones) Load(name string) *time.Location {
	l, ok := z.known[name]
	if !ok {
		l = loadZone(name)
		if l != nil || len(z.known) < 2000 { // limits the memory for unknown names in untrusted input
			z.known[name] = l
		}
	}
	return l
}

// NumberFromE164 parses an E.164 number and caches the data of its exchange.
func (z *Zones) NumberFromE164(e164 string) (domain.Number, error) { return z.numbers.FromE164(e164) }

// ContactZones returns the possible time zones of a contact: the contact's own zone, or else those of the phone number. It
// returns no zones if they are unknown. key is equal for contacts with equal zones.
func (z *Zones) ContactZones(c domain.Contact) (key string, zones []*time.Location) {
	if c.Timezone != "" {
		if l := z.Load(c.Timezone); l != nil {
			return c.Timezone, []*time.Location{l}
		}
		return "", nil
	}
	n, err := z.NumberFromE164(c.Phone)
	if err != nil {
		return "", nil
	}
	return z.NumberZones(n)
}

// NumberZones returns the possible time zones of a phone number. key is equal for numbers with equal zones.
func (z *Zones) NumberZones(number domain.Number) (key string, zones []*time.Location) {
	names := zoneNamesOfNumber(number)
	for _, n := range names {
		l := z.Load(n)
		if l == nil {
			return "", nil
		}
		zones = append(zones, l)
	}
	return strings.Join(names, " "), zones
}

// countryZones lists the time zones of countries that share their calling code with others. It also lists countries for
// which the library phonenumbers has zones of neighbours. Zones that always have the same local time are listed once.
var countryZones = map[string][]string{ //nolint:gochecknoglobals // a table
	"US": {
		"America/New_York", "America/Chicago", "America/Denver", "America/Phoenix",
		"America/Los_Angeles", "America/Anchorage", "America/Adak", "Pacific/Honolulu",
	},
	"CA": {
		"America/St_Johns", "America/Halifax", "America/Toronto", "America/Winnipeg", "America/Regina",
		"America/Edmonton", "America/Vancouver",
	},
	"RU": {
		"Europe/Kaliningrad", "Europe/Moscow", "Europe/Samara", "Asia/Yekaterinburg", "Asia/Omsk",
		"Asia/Krasnoyarsk", "Asia/Irkutsk", "Asia/Yakutsk", "Asia/Vladivostok", "Asia/Magadan", "Asia/Kamchatka",
	},
	"KZ": {"Asia/Almaty", "Asia/Aqtobe"},
	"AU": {
		"Australia/Sydney", "Australia/Brisbane", "Australia/Adelaide", "Australia/Darwin",
		"Australia/Perth", "Australia/Eucla", "Australia/Lord_Howe",
	},
	"MX": {
		"America/Mexico_City", "America/Cancun", "America/Mazatlan", "America/Hermosillo",
		"America/Tijuana", "America/Ciudad_Juarez", "America/Ojinaga", "America/Matamoros",
	},
	"GB": {"Europe/London"}, "GG": {"Europe/Guernsey"}, "JE": {"Europe/Jersey"}, "IM": {"Europe/Isle_of_Man"},
	"IE": {"Europe/Dublin"}, "RE": {"Indian/Reunion"}, "YT": {"Indian/Mayotte"},
	"FI": {"Europe/Helsinki"}, "AX": {"Europe/Mariehamn"}, "NO": {"Europe/Oslo"}, "SJ": {"Arctic/Longyearbyen"},
	"IT": {"Europe/Rome"}, "VA": {"Europe/Vatican"}, "CW": {"America/Curacao"}, "BQ": {"America/Kralendijk"},
}

// overlayAreas maps overlay area codes of the North American Numbering Plan to the area codes that they overlay. It
// lists overlays in areas with several zones, and overlays for which the library phonenumbers has a different zone.
var overlayAreas = map[string][]string{ //nolint:gochecknoglobals // a table
	"448": {"850"}, "930": {"812"}, "364": {"270"}, "729": {"423"}, "458": {"541"}, "986": {"208"},
	"236": {"604", "250"}, "257": {"604", "250"}, "672": {"604", "250"}, "778": {"604", "250"},
	"367": {"418"}, "581": {"418"}, "879": {"709"}, "474": {"306"}, "639": {"306"},
}

// zoneNamesOfNumber returns the sorted names of the possible time zones of a phone number: those of its area code, or else
// those of its country. Numbers of mobiles and services identify only the country.
func zoneNamesOfNumber(n domain.Number) []string {
	var names []string
	var err error
	if n.Kind == phonenumbers.FIXED_LINE || n.Kind == phonenumbers.FIXED_LINE_OR_MOBILE {
		names, err = zoneNamesOfLandline(n)
	} else {
		names, err = zoneNamesOfCountry(n)
	}
	if err != nil || slices.Contains(names, phonenumbers.UNKNOWN_TIMEZONE) {
		return nil
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

func zoneNamesOfLandline(n domain.Number) ([]string, error) {
	code := strconv.Itoa(int(n.Parsed.GetCountryCode()))
	country, err := phonenumbers.GetTimezonesForPrefix(code)
	if err != nil || len(country) == 1 {
		return country, err
	}
	size := len("212")
	if code != "1" {
		size = phonenumbers.GetLengthOfGeographicalAreaCode(n.Parsed)
	}
	digits := strings.TrimPrefix(n.E164, "+")
	if size == 0 || len(digits) < len(code)+size {
		return phonenumbers.GetTimezonesForNumber(n.Parsed)
	}
	return zoneNamesOfArea(code, digits[len(code):len(code)+size], country)
}

// areaZones caches the results of zoneNamesOfArea by country code and area. It is used only for countries with
// several zones.
var areaZones sync.Map //nolint:gochecknoglobals // a cache of a table

// zoneNamesOfArea returns the time zones that the library phonenumbers has for the exchanges of an area code. If it has
// none, zoneNamesOfArea returns the zones of the country.
func zoneNamesOfArea(code, area string, country []string) ([]string, error) {
	if known, _ := areaZones.Load(code + area); known != nil {
		names, _ := known.([]string)
		return names, nil
	}
	areas := []string{area}
	if overlaid := overlayAreas[area]; code == "1" && overlaid != nil {
		areas = overlaid
	}
	var names []string
	for _, a := range areas {
		exchange := tablePrefix - len(code+a)
		if code == "1" {
			exchange = len("555")
		}
		for i := range int(math.Pow10(max(0, exchange))) {
			prefix := code + a
			if exchange > 0 {
				prefix += fmt.Sprintf("%0*d", exchange, i)
			}
			found, err := phonenumbers.GetTimezonesForPrefix(prefix)
			if err != nil {
				return nil, err
			}
			if slices.Equal(found, country) {
				continue // this exchange is not in the table
			}
			for _, name := range found {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	if names == nil {
		names = country
	}
	areaZones.Store(code+area, names)
	return names, nil
}

// tablePrefix is how many leading digits of a number the library phonenumbers uses to find time zones outside the North
// American Numbering Plan.
const tablePrefix = 8

func zoneNamesOfCountry(n domain.Number) ([]string, error) {
	code := int(n.Parsed.GetCountryCode())
	if names := countryZones[n.Country]; names != nil {
		return names, nil
	}
	if code == 1 || code == 7 { // smaller countries of these plans have their own area codes
		return phonenumbers.GetTimezonesForNumber(n.Parsed)
	}
	return phonenumbers.GetTimezonesForPrefix(strconv.Itoa(code))
}
