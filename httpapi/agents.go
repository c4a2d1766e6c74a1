package httpapi

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/rules"
)

// NewVoice is a voice as it is sent.
type NewVoice struct {
	Engine string  `json:"engine,omitempty" enum:"espeak-ng,wav"`
	Name   string  `json:"name,omitempty" example:"en-us"`
	Rate   float64 `json:"rate,omitempty" minimum:"0.5" maximum:"2"`
}

// NewAgentLimits are the limits of an agent as they are sent.
type NewAgentLimits struct {
	SilenceSeconds int `json:"silence_seconds,omitempty" minimum:"0" maximum:"600"`
	MaxMinutes     int `json:"max_minutes,omitempty" minimum:"0" maximum:"240"`
}

// NewDestination is a destination of an agent's transfers as it is sent.
type NewDestination struct {
	Name  string              `json:"name" example:"billing"`
	Phone string              `json:"phone,omitempty" doc:"The extension or the id of a phone; phone or to is required."`
	To    string              `json:"to,omitempty" example:"+12025550123"`
	Mode  domain.TransferMode `json:"mode,omitempty" enum:"blind,attended,bridge"`
}

// NewAgentTransfer is what an agent may do with its callers as it is sent.
type NewAgentTransfer struct {
	Destinations []NewDestination `json:"destinations,omitempty" doc:"Whom callers may be handed to, by name."`
	AcceptRefer  bool             `json:"accept_refer,omitempty" doc:"The far end may send the call elsewhere, by REFER, within the destination rules."`
	Ringback     *bool            `json:"ringback,omitempty" default:"true" doc:"The caller hears it ring while a transfer is dialled."`
	HoldMusic    string           `json:"hold_music,omitempty" maxLength:"100" example:"wav:waiting.wav" doc:"What a party hears while the other side of a bridged call has put it on hold, and the caller while a transfer is dialled without ringback: silence (the default), tone, or wav:NAME.wav, a file of the prompts folder."`
}

// NewAgentInbound is how an agent takes calls as it is sent.
type NewAgentInbound struct {
	Answer      string `json:"answer,omitempty" enum:"ring,direct,early" doc:"ring: 180, then 200. direct: 200 at once. early: 183 with a ringing of ours, for 3 seconds unless ring_seconds says otherwise."`
	RingSeconds int    `json:"ring_seconds,omitempty" minimum:"0" maximum:"60" doc:"ring, early: how long before the answer."`
}

// AgentChange is an agent as it is sent; in a PATCH what is left out stays.
type AgentChange struct {
	Name         *string           `json:"name,omitempty"`
	PathwayID    *string           `json:"pathway_id,omitempty"`
	FirstMessage *string           `json:"first_message,omitempty" doc:"Without a pathway: all that the agent says."`
	Language     *string           `json:"language,omitempty" example:"en-US"`
	Timezone     *string           `json:"timezone,omitempty" example:"America/New_York"`
	Voice        *NewVoice         `json:"voice,omitempty"`
	Limits       *NewAgentLimits   `json:"limits,omitempty"`
	Transfer     *NewAgentTransfer `json:"transfer,omitempty"`
	Inbound      *NewAgentInbound  `json:"inbound,omitempty"`
	Extension    *string           `json:"extension,omitempty" doc:"2 to 6 digits that phones of the workspace dial to reach the agent." example:"200"`
	Metadata     map[string]string `json:"metadata,omitempty"`
}

// set copies what was sent.
func set[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

func (n *AgentChange) apply(a *domain.Agent) error {
	set(&a.Name, n.Name)
	set(&a.PathwayID, n.PathwayID)
	set(&a.FirstMessage, n.FirstMessage)
	set(&a.Language, n.Language)
	set(&a.Timezone, n.Timezone)
	set(&a.Extension, n.Extension)
	if n.Voice != nil {
		a.Voice = domain.Voice(*n.Voice)
	}
	if n.Limits != nil {
		a.Limits = domain.AgentLimits(*n.Limits)
	}
	if t := n.Transfer; t != nil {
		a.Transfer = domain.AgentTransfer{AcceptRefer: t.AcceptRefer, Ringback: t.Ringback, HoldMusic: t.HoldMusic}
		for _, d := range t.Destinations {
			a.Transfer.Destinations = append(a.Transfer.Destinations, domain.Destination(d))
		}
	}
	if n.Inbound != nil {
		a.Inbound = domain.AgentInbound(*n.Inbound)
	}
	if n.Metadata != nil {
		a.Metadata = n.Metadata
	}
	rules.AgentDefaults(a)
	return rules.Agent(a).Err()
}

func (s *Server) agentRoutes() {
	const tag, path = "Agents", "/v1/agents"
	add(s, operation{method: http.MethodPost, path: path, id: "createAgent", tag: tag, status: http.StatusCreated, summary: "Create an agent"},
		func(ctx context.Context, p domain.Principal, in *struct{ Body AgentChange }) (*answer[*domain.Agent], error) {
			a := &domain.Agent{}
			if err := in.Body.apply(a); err != nil {
				return nil, err
			}
			made, err := s.ports.Agents.CreateAgent(ctx, p, a)
			return touched(ctx, made, err)
		})
	add(s, operation{method: http.MethodGet, path: path, id: "listAgents", tag: tag, summary: "List agents"},
		func(ctx context.Context, p domain.Principal, in *struct{ Paging }) (*answer[List[*domain.Agent]], error) {
			l, err := s.ports.Agents.ListAgents(ctx, p, in.page())
			return page(l, err, same)
		})
	add(s, operation{method: http.MethodGet, path: path + "/{id}", id: "getAgent", tag: tag, summary: "Get an agent"},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[*domain.Agent], error) {
			id, err := named(domain.PrefixAgent, in.ID)
			if err != nil {
				return nil, err
			}
			return ok(s.ports.Agents.Agent(ctx, p, id))
		})
	add(s, operation{method: http.MethodPatch, path: path + "/{id}", id: "updateAgent", tag: tag, summary: "Change an agent", about: "Calls that are running keep the agent they began with."},
		func(ctx context.Context, p domain.Principal, in *struct {
			One
			Body AgentChange
		},
		) (*answer[*domain.Agent], error) {
			id, err := named(domain.PrefixAgent, in.ID)
			if err != nil {
				return nil, err
			}
			return ok(s.ports.Agents.UpdateAgent(ctx, p, id, in.Body.apply))
		})
	add(s, operation{method: http.MethodDelete, path: path + "/{id}", id: "deleteAgent", tag: tag, summary: "Delete an agent", errors: []int{http.StatusConflict}},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[Deleted], error) {
			id, err := named(domain.PrefixAgent, in.ID)
			if err != nil {
				return nil, err
			}
			return deleted(id, "agent", s.ports.Agents.DeleteAgent(ctx, p, id))
		})
}

func same[T any](v T) T { return v }

// touched answers with a noun that was made, and notes which.
func touched[T interface{ Base() *domain.Meta }](ctx context.Context, made T, err error) (*answer[T], error) {
	if err != nil {
		return nil, err
	}
	touch(ctx, made.Base().ID)
	return ok(made, nil)
}
