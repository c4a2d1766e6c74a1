package billing

import "github.com/callboard/callboard/domain"

// CurrentTariff are the terms under which a workspace opens attempts now. The
// account of a plan without a price pays what was agreed, or nothing. The plans
// name no price of a text message: that is the operator's, on each of them.
func CurrentTariff(w *domain.Workspace) domain.Tariff {
	t := domain.Tariff{WorkspaceID: w.ID, Number: w.Tariff, Plan: w.Plan, From: w.UpdatedAt}
	if m := w.SegmentPrice; m != nil {
		t.Segment, _ = domain.ParseAmount(m.Amount) // checked where it was taken
	}
	if terms, ok := PlanTerms(w.Plan); ok {
		t.Included, t.Micros = terms.Included, terms.Micros
		return t
	}
	if p := w.Pricing; p != nil {
		t.Included = p.IncludedAttempts
		t.Micros, _ = domain.ParseAmount(p.PricePerAttempt.Amount) // checked where it was taken
	}
	return t
}

// ChangeTariff gives a changed workspace the next tariff number if its price has
// changed. It returns the tariffs to store with the change: the new one, and the
// first time also the earlier one, which no row holds yet.
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

// Meter prices the attempts of one month in their order: each is within the
// quota if so many were not used up before it, and costs what its own tariff
// says otherwise. So an upgrade in mid-month opens the larger quota for what is
// to come and changes nothing of what was; a downgrade likewise.
type Meter struct{ used int }

// Price prices the next attempts, all of one tariff.
func (m *Meter) Price(t domain.Tariff, attempts int) Charge {
	attempts = max(0, attempts)
	c := Charge{Included: min(attempts, max(0, t.Included-m.used))}
	c.Overage = attempts - c.Included
	c.Micros = t.Micros.Times(c.Overage)
	m.used += attempts
	return c
}

// Charge is what attempts cost.
type Charge struct {
	Included, Overage int
	Micros            domain.Amount
}

// Add adds another one.
func (c *Charge) Add(o Charge) {
	c.Included += o.Included
	c.Overage += o.Overage
	c.Micros = c.Micros.Plus(o.Micros)
}
