package node

import (
	"github.com/callboard/callboard/actors/inbound"
	"github.com/callboard/callboard/actors/testcalls"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/testcarrier"
)

// TestCalls returns the registry of test calls, which the API requests from the test carrier.
func (r *inboundCalls) TestCalls() *testcalls.Registry { return &r.testCalls }

// findTestCallNumber returns the number of a test call, which was requested for an agent. It returns nil if the INVITE is
// no test call. A test call reaches only its agent: without a test trunk in the agent's workspace the error is
// inbound.ErrNoNumber.
func (r *inboundCalls) findTestCallNumber(in *sip.Incoming) (*domain.PhoneNumber, trunk.Entry, error) {
	o, _ := r.testCalls.Order(in.Header[testcarrier.TestHeader])
	if o.AgentID == "" || in.PhoneID != "" {
		return nil, trunk.Entry{}, nil
	}
	for _, e := range r.trunkSources.TrunksAt(in.Source) {
		if e.WorkspaceID == o.WorkspaceID && e.Trunk.Simulator && e.Trunk.Environment == domain.Test {
			return &domain.PhoneNumber{
				Meta: domain.Meta{WorkspaceID: o.WorkspaceID, Environment: domain.Test}, Number: o.Number, AgentID: o.AgentID,
			}, e, nil
		}
	}
	return nil, trunk.Entry{}, inbound.ErrNoNumber
}
