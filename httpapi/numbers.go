package httpapi

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/rules"
)

// NewNumber is a phone number as it is sent.
type NewNumber struct {
	Number   string            `json:"number" doc:"E.164, or * for whatever else its trunk brings." example:"+12025550100"`
	AgentID  string            `json:"agent_id" doc:"Who answers."`
	TrunkID  string            `json:"trunk_id,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// NumberChange is what can be changed of a number.
type NumberChange struct {
	AgentID  *string           `json:"agent_id,omitempty"`
	TrunkID  *string           `json:"trunk_id,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

func (s *Server) numberRoutes() {
	const tag, path = "Phone numbers", "/v1/phone-numbers"
	add(s, operation{method: http.MethodPost, path: path, id: "createNumber", tag: tag, status: http.StatusCreated, summary: "Let an agent answer a number", about: "A number is unique in the installation: 409 already_exists."}, s.createNumber)
	add(s, operation{method: http.MethodGet, path: path, id: "listNumbers", tag: tag, summary: "List numbers"},
		func(ctx context.Context, p domain.Principal, in *struct{ Paging }) (*answer[List[*domain.PhoneNumber]], error) {
			l, err := s.ports.Numbers.ListNumbers(ctx, p, in.page())
			return page(l, err, same)
		})
	add(s, operation{method: http.MethodGet, path: path + "/{id}", id: "getNumber", tag: tag, summary: "Get a number"},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[*domain.PhoneNumber], error) {
			id, err := named(domain.PrefixNumber, in.ID)
			if err != nil {
				return nil, err
			}
			return ok(s.ports.Numbers.Number(ctx, p, id))
		})
	add(s, operation{method: http.MethodPatch, path: path + "/{id}", id: "updateNumber", tag: tag, summary: "Let somebody else answer a number"}, s.updateNumber)
	add(s, operation{method: http.MethodDelete, path: path + "/{id}", id: "deleteNumber", tag: tag, summary: "Give a number up"},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[Deleted], error) {
			id, err := named(domain.PrefixNumber, in.ID)
			if err != nil {
				return nil, err
			}
			return deleted(id, "phone_number", s.ports.Numbers.DeleteNumber(ctx, p, id))
		})
}

func (s *Server) createNumber(ctx context.Context, p domain.Principal, in *struct{ Body NewNumber }) (*answer[*domain.PhoneNumber], error) {
	w, err := s.ports.Workspaces.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	n := &domain.PhoneNumber{Number: in.Body.Number, AgentID: in.Body.AgentID, TrunkID: in.Body.TrunkID}
	n.Metadata = in.Body.Metadata
	if err = rules.Number(n, w.DefaultCountry).Err(); err != nil {
		return nil, err
	}
	made, err := s.ports.Numbers.CreateNumber(ctx, p, n)
	return touched(ctx, made, err)
}

func (s *Server) updateNumber(ctx context.Context, p domain.Principal, in *struct {
	One
	Body NumberChange
},
) (*answer[*domain.PhoneNumber], error) {
	id, err := named(domain.PrefixNumber, in.ID)
	if err != nil {
		return nil, err
	}
	return ok(s.ports.Numbers.UpdateNumber(ctx, p, id, func(n *domain.PhoneNumber) error {
		set(&n.AgentID, in.Body.AgentID)
		set(&n.TrunkID, in.Body.TrunkID)
		if in.Body.Metadata != nil {
			n.Metadata = in.Body.Metadata
		}
		return rules.Number(n, "").Err()
	}))
}
