package sip

import (
	"errors"
	"net/netip"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// ErrTestEnvironment refuses a request of the test environment to another peer
// than the built-in carrier.
var ErrTestEnvironment = errors.New("sip: the test environment reaches the built-in carrier only")

// allowsTarget says whether a request of an environment may go to a flow. A request
// that names no environment is restricted as one of the test environment.
func (u *UserAgent) allowsTarget(env domain.Environment, to transport.Flow) bool {
	if u.cfg.TestCarrier == nil || env == domain.Live {
		return true
	}
	carrier := u.cfg.TestCarrier()
	return carrier.IsValid() && to.Network == resolve.UDP && to.RemotePhone == nil && to.Addr == netip.AddrPortFrom(carrier.Addr().Unmap(), carrier.Port())
}

// checkEnvironment refuses a target before a name is looked up: the built-in
// carrier is known by its address.
func (u *UserAgent) checkEnvironment(env domain.Environment, t resolve.Target) error {
	if u.cfg.TestCarrier == nil || env == domain.Live {
		return nil
	}
	ip, err := netip.ParseAddr(strings.Trim(t.Host, "[]"))
	if err != nil || t.Through.IsValid() || !u.allowsTarget(env, transport.FlowTo(resolve.WithAddress(t, ip))) {
		return ErrTestEnvironment
	}
	return nil
}
