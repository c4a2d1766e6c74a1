package billing

import (
	"math"

	"github.com/callboard/callboard/domain"
)

// PricedUsage holds the usage counters of one day and tariff, with their price.
type PricedUsage struct {
	*domain.Usage

	AttemptsBefore int // call attempts on earlier days of the same month
	Charge         Charge
	SMS            domain.Amount
}

// PriceUsage prices the usage counters of whole months, in the order of days. Months must be complete, because the price
// of a day depends on the earlier days of its month.
func PriceUsage(rows []*domain.Usage, tariffs map[int]domain.Tariff) []PricedUsage {
	out := make([]PricedUsage, 0, len(rows))
	var meter Meter
	used, month := 0, ""
	for _, u := range rows {
		if m := u.Day[:7]; m != month {
			meter, used, month = Meter{}, 0, m
		}
		t := tariffs[u.Tariff]
		out = append(out, PricedUsage{u, used, meter.Price(t, u.Attempts()), t.Segment.Times(u.Segments())})
		used += u.Attempts()
	}
	return out
}

// Summarize sets Total, Months and Days to the sums of the priced counters from the day u.From on. rows must be in the
// order of days.
func (u *Usage) Summarize(rows []PricedUsage) {
	var total sum
	var months, days []*sum
	for _, r := range rows {
		if r.Day < u.From {
			continue
		}
		total.add(r)
		months = addTo(months, r.Day[:7], r)
		days = addTo(days, r.Day, r)
	}
	u.Total, u.Months, u.Days = total.used(), []MonthUsage{}, []DayUsage{}
	for _, s := range months {
		u.Months = append(u.Months, MonthUsage{Month: s.name, UsageTotals: s.used()})
	}
	for _, s := range days {
		u.Days = append(u.Days, DayUsage{Day: s.name, UsageTotals: s.used()})
	}
}

// sum adds up the priced counters of a day, a month or the whole range.
type sum struct {
	name   string
	counts domain.Usage
	charge Charge
	sms    domain.Amount
}

func (s *sum) add(r PricedUsage) {
	s.counts.Add(r.Usage)
	s.charge.Add(r.Charge)
	s.sms = s.sms.Plus(r.SMS)
}

// addTo adds r to the last sum if it has the given name, such as a month. Otherwise it appends a new sum.
func addTo(sums []*sum, name string, r PricedUsage) []*sum {
	if len(sums) == 0 || sums[len(sums)-1].name != name {
		sums = append(sums, &sum{name: name})
	}
	sums[len(sums)-1].add(r)
	return sums
}

func (s *sum) used() UsageTotals {
	u := &s.counts
	return UsageTotals{
		Attempts: u.Attempts(), Included: s.charge.Included, Overage: s.charge.Overage, Amount: domain.Dollars(s.charge.Micros),
		Minutes:         math.Round(float64(u.OutboundSeconds()+u.InboundSeconds())*100/60) / 100,
		OutboundSeconds: u.OutboundSeconds(), InboundCalls: u.InboundCalls(), InboundSeconds: u.InboundSeconds(), SMS: u.SMS(),
		Segments: u.Segments(), SMSAmount: domain.Dollars(s.sms), TotalAmount: domain.Dollars(s.charge.Micros.Plus(s.sms)),
	}
}
