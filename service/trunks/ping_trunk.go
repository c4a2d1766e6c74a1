package trunks

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/resolve"
)

// testWait is the time limit for the test of all targets of a trunk.
const testWait = 6 * time.Second

// TestTrunk sends SIP OPTIONS to all targets of a trunk in parallel. Errors: not_found.
func (s *Service) TestTrunk(ctx context.Context, p domain.Principal, id string) (TrunkTest, error) {
	t, err := s.Trunk(ctx, p, id)
	if err != nil {
		return TrunkTest{}, err
	}
	if t.IsTestOnly() {
		return untested(t), nil
	}
	testCtx, cancel := context.WithTimeout(ctx, testWait)
	defer cancel()
	targets, tests := s.targets(testCtx, t)
	var wait sync.WaitGroup
	for i, to := range targets {
		wait.Go(func() {
			if tests[i].Error != "" {
				return
			}
			pong, err := s.cfg.SIP.Ping(testCtx, t.Environment, to)
			if err != nil {
				tests[i].Error = pingProblem(err)
				return
			}
			tests[i].Reachable, tests[i].Code, tests[i].Reason = true, pong.Code, pong.Phrase
			tests[i].Server, tests[i].Allow, tests[i].Millis = pong.Server, pong.Allow, pong.RTT.Milliseconds()
		})
	}
	wait.Wait()
	out := TrunkTest{TrunkID: t.ID, Targets: tests}
	for _, x := range tests {
		out.OK = out.OK || x.Reachable
	}
	return out, nil
}

// untested returns the result for a trunk of the test environment, which is never contacted.
func untested(t *domain.Trunk) TrunkTest {
	out := TrunkTest{TrunkID: t.ID, Targets: []TargetTest{}}
	for _, x := range t.Proxies {
		to := resolve.Target{Host: x.Host, Port: x.Port, Transport: x.Transport}
		out.Targets = append(out.Targets, TargetTest{Target: to.String(), Error: "not tested: the test environment contacts the test carrier only"})
	}
	return out
}

// pingProblem returns the text that explains an error of an OPTIONS request to the user.
func pingProblem(err error) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return "no answer"
	}
	return strings.TrimPrefix(err.Error(), "sip: ")
}

// targets returns the resolved targets of a trunk, and for each target a TargetTest without a result yet.
func (s *Service) targets(ctx context.Context, t *domain.Trunk) ([]resolve.Target, []TargetTest) {
	if t.Simulator {
		if to, ok := s.cfg.TestCarrier(); ok {
			return []resolve.Target{to}, []TargetTest{{Target: to.String()}}
		}
	}
	proxies := t.Proxies
	if t.OutboundProxy != nil {
		proxies = []domain.Proxy{*t.OutboundProxy}
	}
	targets, tests := []resolve.Target{}, []TargetTest{}
	for _, x := range proxies {
		named := resolve.Target{Host: x.Host, Port: x.Port, Transport: x.Transport, TrunkID: t.ID}
		found, err := s.cfg.SIP.Resolve(ctx, named)
		if err != nil {
			targets, tests = append(targets, named), append(tests, TargetTest{Target: named.String(), Error: "the host name does not resolve"})
			continue
		}
		for _, to := range found {
			if to.Host != x.Host && to.Name == "" {
				to.Name = x.Host
			}
			targets, tests = append(targets, to), append(tests, TargetTest{Target: to.String()})
		}
	}
	return targets, tests
}
