package httpapi

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/rules"
)

// NewProxy is a target of a trunk as it is sent.
type NewProxy struct {
	Host      string `json:"host" example:"sip.example.com"`
	Port      int    `json:"port,omitempty" minimum:"1" maximum:"65535" default:"5060"`
	Transport string `json:"transport,omitempty" enum:"udp,tcp" default:"udp"`
	Priority  int    `json:"priority,omitempty" minimum:"0" maximum:"65535" doc:"Lower first."`
	Weight    int    `json:"weight,omitempty" minimum:"0" maximum:"65535" default:"1" doc:"Share among targets of one priority."`
}

// NewTrunkAuth are the credentials of a trunk as they are sent.
type NewTrunkAuth struct {
	Username string `json:"username"`
	Password string `json:"password,omitempty" doc:"Never shown again. In a PATCH it may be left out and stays."`
	Realm    string `json:"realm,omitempty"`
}

// NewTrunkInbound says from where a trunk's calls may come, as it is sent.
type NewTrunkInbound struct {
	AllowedIPs []string `json:"allowed_ips" nullable:"false" doc:"Empty: the addresses of the proxies."`
}

// TrunkChange is a trunk as it is sent; in a PATCH what is left out stays.
type TrunkChange struct {
	Name           *string           `json:"name,omitempty"`
	Proxies        []NewProxy        `json:"proxies,omitempty" nullable:"false"`
	Auth           *NewTrunkAuth     `json:"auth,omitempty"`
	FromDomain     *string           `json:"from_domain,omitempty"`
	NumberFormat   *string           `json:"number_format,omitempty" enum:"e164,digits"`
	Inbound        *NewTrunkInbound  `json:"inbound,omitempty"`
	Codecs         []string          `json:"codecs,omitempty" nullable:"false" doc:"PCMU, PCMA, in the order of preference."`
	CallsPerSecond *float64          `json:"calls_per_second,omitempty" doc:"50 unless said."`
	MaxChannels    *int              `json:"max_channels,omitempty" doc:"0: no limit of its own."`
	MediaNetworks  []string          `json:"media_networks,omitempty" nullable:"false"`
	Prefixes       []string          `json:"prefixes,omitempty" nullable:"false" doc:"Numbers that it takes; empty: all."`
	CallerIDs      []string          `json:"caller_ids,omitempty" nullable:"false" doc:"Numbers that may be shown over it."`
	Metadata       map[string]string `json:"metadata,omitempty"`
}

func (n *TrunkChange) apply(t *domain.Trunk) error {
	set(&t.Name, n.Name)
	set(&t.FromDomain, n.FromDomain)
	set(&t.NumberFormat, n.NumberFormat)
	set(&t.CallsPerSecond, n.CallsPerSecond)
	set(&t.MaxChannels, n.MaxChannels)
	if n.Proxies != nil {
		t.Proxies = make([]domain.Proxy, len(n.Proxies))
		for i, x := range n.Proxies {
			t.Proxies[i] = domain.Proxy(x)
		}
	}
	if a := n.Auth; a != nil {
		auth := &domain.TrunkAuth{Username: a.Username, Password: a.Password, Realm: a.Realm}
		if auth.Password == "" && t.Auth != nil {
			auth.Password = t.Auth.Password
		}
		t.Auth = auth
	}
	if n.Inbound != nil {
		t.Inbound.AllowedIPs = n.Inbound.AllowedIPs
	}
	for _, l := range []struct {
		into *[]string
		from []string
	}{{&t.Codecs, n.Codecs}, {&t.MediaNetworks, n.MediaNetworks}, {&t.Prefixes, n.Prefixes}, {&t.CallerIDs, n.CallerIDs}} {
		if l.from != nil {
			*l.into = append([]string{}, l.from...)
		}
	}
	if n.Metadata != nil {
		t.Metadata = n.Metadata
	}
	rules.TrunkDefaults(t)
	return rules.Trunk(t).Err()
}

func (s *Server) trunkRoutes() {
	const tag, path = "Trunks", "/v1/trunks"
	add(s, operation{method: http.MethodPost, path: path, id: "createTrunk", tag: tag, status: http.StatusCreated, summary: "Connect a trunk"},
		func(ctx context.Context, p domain.Principal, in *struct{ Body TrunkChange }) (*answer[*domain.Trunk], error) {
			t := &domain.Trunk{}
			if err := in.Body.apply(t); err != nil {
				return nil, err
			}
			made, err := s.ports.Trunks.CreateTrunk(ctx, p, t)
			if err != nil {
				return nil, err
			}
			return touched(ctx, made.Public(), nil)
		})
	add(s, operation{method: http.MethodGet, path: path, id: "listTrunks", tag: tag, summary: "List trunks"},
		func(ctx context.Context, p domain.Principal, in *struct{ Paging }) (*answer[List[*domain.Trunk]], error) {
			l, err := s.ports.Trunks.ListTrunks(ctx, p, in.page())
			return page(l, err, (*domain.Trunk).Public)
		})
	add(s, operation{method: http.MethodGet, path: path + "/{id}", id: "getTrunk", tag: tag, summary: "Get a trunk"},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[*domain.Trunk], error) {
			id, err := named(domain.PrefixTrunk, in.ID)
			if err != nil {
				return nil, err
			}
			return public(s.ports.Trunks.Trunk(ctx, p, id))
		})
	add(s, operation{method: http.MethodPatch, path: path + "/{id}", id: "updateTrunk", tag: tag, summary: "Change a trunk", about: "Calls that are running go on as they began."},
		func(ctx context.Context, p domain.Principal, in *struct {
			One
			Body TrunkChange
		},
		) (*answer[*domain.Trunk], error) {
			id, err := named(domain.PrefixTrunk, in.ID)
			if err != nil {
				return nil, err
			}
			return public(s.ports.Trunks.UpdateTrunk(ctx, p, id, in.Body.apply))
		})
	add(s, operation{method: http.MethodDelete, path: path + "/{id}", id: "deleteTrunk", tag: tag, summary: "Disconnect a trunk", errors: []int{http.StatusConflict}},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[Deleted], error) {
			id, err := named(domain.PrefixTrunk, in.ID)
			if err != nil {
				return nil, err
			}
			return deleted(id, "trunk", s.ports.Trunks.DeleteTrunk(ctx, p, id))
		})
}

// public answers with a noun without its secrets.
func public[T interface{ Public() T }](v T, err error) (*answer[T], error) {
	if err != nil {
		return nil, err
	}
	return ok(v.Public(), nil)
}
