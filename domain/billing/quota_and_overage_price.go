package billing

import "github.com/callboard/callboard/domain"

// CurrentTariff returns the tariff for new call attempts and messages of a workspace. Enterprise accounts have individual
// terms, or none. On every plan the operator sets the price of a message segment.
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

// ChangeTariff gives a changed workspace w the next tariff number if its price has changed. It returns the tariffs to
// store in the same commit: the new tariff and, at the first change, also the previous tariff, which is not yet stored.
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

// Meter prices the call attempts of one month one after the other. An attempt is free until the quota of its tariff is
// used up. Later attempts cost the price of their tariff. A change of plan therefore affects only later attempts.
type Meter struct{ used int }

// Price prices the next call attempts of the month, which all have the same tariff.
func (m *Meter) Price(t domain.Tariff, attempts int) Charge {
	attempts = max(0, attempts)
	c := Charge{Included: min(attempts, max(0, t.Included-m.used))}
	c.Overage = attempts - c.Included
	c.Micros = t.Micros.Times(c.Overage)
	m.used += attempts
	return c
}

// Charge is the price of a number of call attempts, with the numbers of free and of charged attempts.
type Charge struct {
	Included, Overage int
	Micros            domain.Amount
}

// Add adds the numbers and the price of another charge.
func (c *Charge) Add(o Charge) {
	c.Included += o.Included
	c.Overage += o.Overage
	c.Micros = c.Micros.Plus(o.Micros)
}
