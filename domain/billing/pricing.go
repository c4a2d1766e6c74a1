package billing

import "github.com/callboard/callboard/domain"

// CurrentTariff returns the tariff for new attempts of a workspace. Enterprise accounts have individual terms, or
// none. The price of message segments is set by the operator on every plan.
func CurrentTariff(w *domain.Workspace) domain.Tariff {
	t := domain.Tariff{WorkspaceID: w.ID, Number: w.Tariff, Plan: w.Plan, From: w.UpdatedAt}
	if m := w.SegmentPrice; m != nil {
		t.Segment, _ = domain.ParseAmount(m.Amount) // validated when it was set
	}
	if terms, ok := PlanTerms(w.Plan); ok {
		t.Included, t.Micros = terms.Included, terms.Micros
		return t
	}
	if p := w.Pricing; p != nil {
		t.Included = p.IncludedAttempts
		t.Micros, _ = domain.ParseAmount(p.PricePerAttempt.Amount) // validated when it was set
	}
	return t
}

// ChangeTariff assigns the next tariff number to a changed workspace if its price has changed. It returns the
// tariffs to store with the change: the new tariff and, the first time, also the previous tariff, which is not
// stored yet.
func ChangeTariff(before, w *domain.Workspace) []*domain.Tariff {
	was, is := CurrentTariff(before), CurrentTariff(w)
	if was.Plan == is.Plan && was.Included == is.Included && was.Micros == is.Micros && was.Segment == is.Segment {
		return nil
	}
	w.Tariff++
	is.Number, is.From = w.Tariff, w.UpdatedAt
	if before.Tariff > 0 {
		return []*domain.Tariff{&is}
	}
	was.From = before.CreatedAt
	return []*domain.Tariff{&is, &was}
}

// Meter prices the attempts of one month in sequence. An attempt is free while the quota of its tariff is not used
// up; otherwise it costs the price of its tariff. A change of plan in mid-month therefore affects only later
// attempts.
type Meter struct{ used int }

// Price prices the next attempts, which all have the same tariff.
func (m *Meter) Price(t domain.Tariff, attempts int) Charge {
	attempts = max(0, attempts)
	c := Charge{Included: min(attempts, max(0, t.Included-m.used))}
	c.Overage = attempts - c.Included
	c.Micros = t.Micros.Times(c.Overage)
	m.used += attempts
	return c
}

// Charge is the price of a number of attempts.
type Charge struct {
	Included, Overage int
	Micros            domain.Amount
}

// Add adds another charge.
func (c *Charge) Add(o Charge) {
	c.Included += o.Included
	c.Overage += o.Overage
	c.Micros = c.Micros.Plus(o.Micros)
}
