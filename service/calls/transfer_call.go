package calls

import (
	"context"
	"strings"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

// Transfer is a request to transfer the caller of a live call. Exactly one of To, Phone and Destination must be set.
type Transfer struct {
	To          string              // E.164, or national in the workspace's default country
	Phone       string              // extension or id
	Destination string              // name of one of the agent's transfer destinations
	Mode        domain.TransferMode // default: the mode of the destination, else bridge
	Summary     string              // spoken to the transfer target before the caller is connected
}

// TransferCall transfers the caller of a live call. Errors: not_found, invalid_state, destination_not_allowed,
// spend_cap_reached, dnc_blocked, validation_failed.
func (s *Service) TransferCall(ctx context.Context, p domain.Principal, id string, o Transfer) (*domain.Call, error) {
	c, pid, err := s.liveCall(ctx, p, id)
	if err != nil {
		return nil, err
	}
	destinations, err := s.transferDestinations(ctx, p, c.AgentID)
	if err != nil {
		return nil, err
	}
	if o.Destination != "" {
		if _, known := destinations.Find(o.Destination); !known {
			return nil, domain.FieldError("destination", domain.CodeValidation, "the agent has no destination of this name")
		}
	}
	target, err := s.cfg.TransferTargets.FindTransferTarget(ctx, c, &destinations, call.TransferDestination{To: o.To, Phone: o.Phone, Destination: o.Destination})
	if err != nil {
		return nil, err
	}
	mode := o.Mode
	if mode == "" {
		mode = domain.TransferBridge
	} else {
		target.Mode = ""
	}
	done, err := mailbox.Ask[call.RequestDone](ctx, s.cfg.System, pid, call.StartTransfer{
		CallID: c.ID, Target: target, Mode: mode, Summary: strings.TrimSpace(o.Summary),
	})
	return &done.Call, err
}

// transferDestinations returns the transfer destinations of an agent. They are empty if the agent was deleted.
func (s *Service) transferDestinations(ctx context.Context, p domain.Principal, agentID string) (domain.AgentTransfer, error) {
	if agentID == "" {
		return domain.AgentTransfer{}, nil
	}
	a, err := s.cfg.Agents.Agent(ctx, p, agentID)
	switch {
	case err == nil:
		return a.Transfer, nil
	case domain.CodeOf(err) == domain.CodeNotFound:
		return domain.AgentTransfer{}, nil
	}
	return domain.AgentTransfer{}, err
}
