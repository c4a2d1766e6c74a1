package actors

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/routing"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/sip/resolve"
)

// Limits of what is done for a trunk's owner while he waits.
const (
	healthWait = 2 * time.Second
	checkWait  = 5 * time.Second
	testWait   = 6 * time.Second
	alarmWait  = 8 * time.Second
)

// shownTrunks puts into trunks what only the running service knows. Where it
// cannot be had in time they are shown without.
func (d *Desk) shownTrunks(ctx context.Context, p domain.Principal, list ...*domain.Trunk) {
	t := d.node.tree(p.WorkspaceID)
	if t == nil || len(list) == 0 {
		return
	}
	bound, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	now, err := mailbox.Ask[trunk.HealthNow](bound, d.node.sys, t.trunks, trunk.Health{})
	if err != nil {
		d.log.Warn("the trunks did not tell their health", slog.Any("error", err))
	}
	for _, x := range list {
		x.Warnings = trunkWarnings(t.record.Load(), x)
		if !x.Simulator && !x.IsTestOnly() {
			x.SIPURI = d.node.cfg.SIPURI
		}
		if s, ok := now.Trunks[x.ID]; ok {
			x.Health, x.Quality = &s.Health, &s.Quality
		}
	}
}

// refuseTestNumber notes a number of the test environment where a real one is due.
func refuseTestNumber(problems *domain.Problems, param, number string) {
	if domain.IsMagic(number) {
		problems.Add(param, domain.CodeCallerIDNotAllowed, "%s is a number of the test environment, which no trunk shows", number)
	}
}

// trunkFits refuses a trunk of whose hosts none may be reached. A name that
// cannot be looked up now may be right tomorrow; the check at each connection
// is the one that counts.
func (d *Desk) trunkFits(ctx context.Context, t *domain.Trunk) error {
	if t.Environment == domain.Live && !t.Simulator {
		var problems domain.Problems
		for i, number := range t.CallerIDs {
			refuseTestNumber(&problems, "caller_ids["+strconv.Itoa(i)+"]", number)
		}
		if err := problems.Err(); err != nil {
			return err
		}
	}
	may := d.node.cfg.MayReach
	if may == nil || t.Simulator {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	var problems domain.Problems
	check := func(param string, p domain.Proxy) {
		found := []resolve.Target{{Host: p.Host, Port: p.Port, Transport: p.Transport}}
		if _, err := netip.ParseAddr(strings.Trim(p.Host, "[]")); err != nil {
			if found, err = d.node.cfg.SIP.Resolve(bound, found[0]); err != nil {
				return
			}
		}
		for _, f := range found {
			if a, err := netip.ParseAddr(strings.Trim(f.Host, "[]")); err == nil && may(netip.AddrPortFrom(a.Unmap(), uint16(f.Port&0xFFFF))) {
				return
			}
		}
		problems.Add(param+".host", domain.CodeValidation, "%s may not be reached from here: only public addresses, and what the operator allows", p.Host)
	}
	for i, p := range t.Proxies {
		check("proxies["+strconv.Itoa(i)+"]", p)
	}
	if t.OutboundProxy != nil {
		check("outbound_proxy", *t.OutboundProxy)
	}
	return problems.Err()
}

// TestTrunk asks each target of a trunk by OPTIONS, side by side.
func (d *Desk) TestTrunk(ctx context.Context, p domain.Principal, id string) (ask.TrunkTest, error) {
	t, err := d.Trunk(ctx, p, id)
	if err != nil {
		return ask.TrunkTest{}, err
	}
	if t.IsTestOnly() {
		return untested(t), nil
	}
	bound, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	targets, tests := d.targetsOf(bound, t)
	var wait sync.WaitGroup
	for i, to := range targets {
		wait.Go(func() {
			if tests[i].Error != "" {
				return
			}
			pong, err := d.node.cfg.SIP.Ping(bound, t.Environment, to)
			if err != nil {
				tests[i].Error = pingProblem(err)
				return
			}
			tests[i].Reachable, tests[i].Code, tests[i].Reason = true, pong.Code, pong.Phrase
			tests[i].Server, tests[i].Allow, tests[i].Millis = pong.Server, pong.Allow, pong.RTT.Milliseconds()
		})
	}
	wait.Wait()
	out := ask.TrunkTest{TrunkID: t.ID, Targets: tests}
	for _, x := range tests {
		out.OK = out.OK || x.Reachable
	}
	return out, nil
}

// untested is the answer for a trunk that is never used.
func untested(t *domain.Trunk) ask.TrunkTest {
	out := ask.TrunkTest{TrunkID: t.ID, Targets: []ask.TargetTest{}}
	for _, x := range t.Proxies {
		to := resolve.Target{Host: x.Host, Port: x.Port, Transport: x.Transport}
		out.Targets = append(out.Targets, ask.TargetTest{Target: to.String(), Error: "not asked: the test environment reaches the built-in carrier only"})
	}
	return out
}

func pingProblem(err error) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return "no answer"
	}
	return strings.TrimPrefix(err.Error(), "sip: ")
}

// targetsOf are the targets of a trunk, its names looked up.
func (d *Desk) targetsOf(ctx context.Context, t *domain.Trunk) ([]resolve.Target, []ask.TargetTest) {
	if t.Simulator {
		if to, ok := d.node.cfg.Simulator(); ok {
			return []resolve.Target{to}, []ask.TargetTest{{Target: to.String()}}
		}
	}
	proxies := t.Proxies
	if t.OutboundProxy != nil {
		proxies = []domain.Proxy{*t.OutboundProxy}
	}
	targets, tests := []resolve.Target{}, []ask.TargetTest{}
	for _, x := range proxies {
		named := resolve.Target{Host: x.Host, Port: x.Port, Transport: x.Transport, TrunkID: t.ID}
		found, err := d.node.cfg.SIP.Resolve(ctx, named)
		if err != nil {
			targets, tests = append(targets, named), append(tests, ask.TargetTest{Target: named.String(), Error: "the name leads nowhere"})
			continue
		}
		for _, to := range found {
			if to.Host != x.Host && to.Name == "" {
				to.Name = x.Host
			}
			targets, tests = append(targets, to), append(tests, ask.TargetTest{Target: to.String()})
		}
	}
	return targets, tests
}

// alarm tells the workspace of a trunk that does badly, or well again.
func (n *Node) alarm(ctx context.Context, a trunk.Alarm) {
	about := []any{
		slog.String("trunk_id", a.Trunk.ID), slog.String("measure", a.Measure), slog.Float64("value", a.Value), slog.Float64("bound", a.Bound),
		slog.Int("calls", a.Calls),
	}
	if a.Recovered {
		n.cfg.Log.Info("a trunk does well again", about...)
	} else {
		n.cfg.Log.Warn("a trunk does badly", about...)
	}
	bound, cancel := context.WithTimeout(ctx, alarmWait)
	defer cancel()
	d := record.NewEvent(&a.Trunk.Meta, event.SystemDegraded, a.Trunk.ID, domain.Unit(a.Trunk.WorkspaceID), event.SystemDegradedData{
		TrunkID: a.Trunk.ID, TrunkName: a.Trunk.Name, Measure: a.Measure, Value: a.Value, Bound: a.Bound, Calls: a.Calls,
		WindowSeconds: int(routing.Span / time.Second), Message: a.Message, Recovered: a.Recovered,
	})
	if _, err := n.cfg.Store.Apply(bound, commit.Change{Workspace: a.Trunk.WorkspaceID, Events: []event.Draft{d}}); err != nil {
		n.cfg.Log.Warn("the alarm of a trunk could not be kept", slog.Any("error", err))
		return
	}
	n.Committed(a.Trunk.WorkspaceID)
}

// spent is what the ledger says of the outbound calls since the beginning of a
// day, by their trunks' costs and by the plan's price of an attempt where those
// name none, and what the text messages have cost since then.
func (n *Node) spent(ctx context.Context, w *domain.Workspace, since time.Time) (domain.Amount, error) {
	micros := billing.TariffOf(w).Micros
	sum, err := n.spentOnTexts(ctx, w, since)
	if err != nil {
		return 0, err
	}
	q := commit.Query{
		Kind: "ledger", Workspace: w.ID, Index: "month=" + since.UTC().Format("2006-01"), Oldest: true, Limit: 1000,
		From: since.UTC().Format("20060102T150405.000000000"),
	}
	for {
		next, err := n.cfg.Store.List(ctx, q, func() domain.Record { return &domain.LedgerRow{} }, func(r domain.Record) error {
			if l, ok := r.(*domain.LedgerRow); ok && l.Direction != domain.Inbound {
				if sum = sum.Plus(l.CostMicros); !l.Priced {
					sum = sum.Plus(micros)
				}
			}
			return nil
		})
		if err != nil || next == "" {
			return sum, err
		}
		q.Cursor = next
	}
}

// spentOnTexts is what the text messages of a day have cost.
func (n *Node) spentOnTexts(ctx context.Context, w *domain.Workspace, day time.Time) (sum domain.Amount, err error) {
	of, err := tariffs(ctx, n.cfg.Store, w)
	if err != nil {
		return 0, err
	}
	rows, err := counters(ctx, n.cfg.Store, w.ID, day, day)
	for _, u := range rows {
		sum = sum.Plus(of[u.Tariff].Segment.Times(u.Segments()))
	}
	return sum, err
}

// textPaid settles the reservation of an SMS message. The process that has stored
// the result of the message calls it.
func (n *Node) textPaid(m *domain.Message, sent bool) { n.settleText(m, sent, false) }

// textFound settles the reservation, if any, of an SMS message that was found ended:
// the answer to the commit was lost, or a delivery report was faster.
func (n *Node) textFound(m *domain.Message) { n.settleText(m, m.SentAt != nil, true) }

func (n *Node) settleText(m *domain.Message, sent, found bool) {
	t := n.tree(m.WorkspaceID)
	if t == nil || m.Environment != domain.Live {
		return
	}
	p := trunk.SettleSMS{Message: m.ID, Found: found}
	if sent {
		p.Micros = textCosts(t.record.Load(), m.Segments)
	}
	n.sys.Root.Send(t.trunks, p)
}

// textAside sets aside what a text message will cost, whatever the cap says: a
// carrier may have it.
func (n *Node) textAside(m *domain.Message) {
	if t := n.tree(m.WorkspaceID); t != nil && m.Environment == domain.Live {
		n.sys.Root.Send(t.trunks, trunk.ReserveSMS{Message: m.ID, Micros: textCosts(t.record.Load(), m.Segments)})
	}
}

// textCosts is the price of a text message now.
func textCosts(w *domain.Workspace, segments int) domain.Amount {
	return billing.TariffOf(w).Segment.Times(segments)
}

// mayText says whether a text message may go by the rules of a workspace, and
// sets aside what it will cost until textPaid.
func (n *Node) mayText(ctx context.Context, w *domain.Workspace, env domain.Environment, id, to string, segments int) error {
	_, err := n.mayReach(ctx, w.ID, trunk.Check{To: to, Environment: env, Message: id, Micros: textCosts(w, segments)})
	return err
}

// mayCall says whether a number, as a person or a far end writes it, may be
// called by the rules of a workspace: destination_not_allowed or
// spend_cap_reached otherwise. Transfers and REFER ask it; what asks the trunks
// for a slot is asked there besides.
func (n *Node) mayCall(ctx context.Context, p domain.Principal, to string) (e164 string, err error) {
	return n.mayReach(ctx, p.WorkspaceID, trunk.Check{To: to, Environment: p.Environment})
}

func (n *Node) mayReach(ctx context.Context, workspaceID string, check trunk.Check) (e164 string, err error) {
	t := n.tree(workspaceID)
	if t == nil {
		return "", n.WorkspaceNotFound()
	}
	bound, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	got, err := mailbox.Ask[trunk.Checked](bound, n.sys, t.trunks, check)
	if err != nil {
		return "", err
	}
	if got.Err != nil {
		return "", got.Err
	}
	return got.To, nil
}
