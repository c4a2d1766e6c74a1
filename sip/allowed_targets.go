package sip

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// ErrTestEnvironment refuses a request of the test environment to a peer other than the test carrier.
var ErrTestEnvironment = errors.New("sip: requests of the test environment may only go to the test carrier")

// checkTarget returns an error for an invalid target or one that no listener can reach, and sets the default transport.
func (u *UserAgent) checkTarget(t *resolve.Target) error {
	if _, err := netip.ParseAddr(strings.Trim(t.Host, "[]")); t.Transport == "" && (t.Port != 0 || err == nil) {
		t.Transport = resolve.UDP
	}
	switch {
	case !message.IsHost(t.Host) || t.Port < 0 || t.Port > 65535:
		return fmt.Errorf("sip: %q port %d is not a valid target", t.Host, t.Port)
	case !slices.Contains([]string{"", resolve.UDP, resolve.TCP, resolve.TLS}, t.Transport):
		return fmt.Errorf("sip: unknown transport %q", t.Transport)
	case t.Transport == resolve.UDP && !u.transport.HasUDP():
		return transport.ErrNoListener
	case t.Name != "" && !message.IsHost(t.Name):
		return fmt.Errorf("sip: %q is not a valid certificate name", t.Name)
	}
	return nil
}

// reachable returns the addresses that have a suitable socket and that Config.MayReach allows.
func (u *UserAgent) reachable(found []resolve.Target) []resolve.Target {
	var out []resolve.Target
	for _, t := range found {
		f := transport.FlowTo(t)
		if !f.IsStream() && u.transport.SocketTo(f.Addr) == nil {
			continue
		}
		if u.cfg.MayReach == nil || u.cfg.MayReach(f.Addr) {
			out = append(out, t)
		}
	}
	return out
}

// checkEnvironment returns an error if the environment forbids the target. It needs no DNS lookup, because the only
// target that a restricted environment allows is the IP address of the test carrier.
func (u *UserAgent) checkEnvironment(env domain.Environment, t resolve.Target) error {
	if u.cfg.TestCarrier == nil || env == domain.Live {
		return nil
	}
	ip, err := netip.ParseAddr(strings.Trim(t.Host, "[]"))
	if err != nil || t.Through.IsValid() || !u.allowsFlow(env, transport.FlowTo(resolve.WithAddress(t, ip))) {
		return ErrTestEnvironment
	}
	return nil
}

// allowsFlow reports whether a request of an environment may be sent over a flow. A request without an environment is
// restricted like a request of the test environment.
func (u *UserAgent) allowsFlow(env domain.Environment, to transport.Flow) bool {
	if u.cfg.TestCarrier == nil || env == domain.Live {
		return true
	}
	carrier := u.cfg.TestCarrier()
	return carrier.IsValid() && to.Network == resolve.UDP && to.RemotePhone == nil && to.Addr == netip.AddrPortFrom(carrier.Addr().Unmap(), carrier.Port())
}
