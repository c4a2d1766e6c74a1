package telephony

import (
	"context"
	"net/http"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/trunks"
)

// Trunks are ways to the telephone network.
type Trunks interface {
	CreateTrunk(ctx context.Context, p domain.Principal, t *domain.Trunk) (*domain.Trunk, error)
	Trunk(ctx context.Context, p domain.Principal, id string) (*domain.Trunk, error)
	ListTrunks(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Trunk], error)
	UpdateTrunk(ctx context.Context, p domain.Principal, id string, change func(*domain.Trunk) error) (*domain.Trunk, error)
	DeleteTrunk(ctx context.Context, p domain.Principal, id string) error
	// TestTrunk asks each target by OPTIONS, for some seconds at most.
	TestTrunk(ctx context.Context, p domain.Principal, id string) (trunks.TrunkTest, error)
}

// trunkHandlers serves the operations of trunks.
type trunkHandlers struct {
	*router.Router

	trunks Trunks
}

// NewProxy is a target of a trunk as it is sent.
type NewProxy struct {
	Host      string `json:"host" example:"sip.example.com"`
	Port      int    `json:"port,omitempty" minimum:"0" maximum:"65535" doc:"0 or left out: 5060, over TLS 5061; of a name by its SRV records first."`
	Transport string `json:"transport,omitempty" enum:"udp,tcp,tls" doc:"Left out: udp, or what the NAPTR and SRV records of a name without a port say."`
	Priority  int    `json:"priority,omitempty" minimum:"0" maximum:"65535" doc:"Lower first."`
	Weight    int    `json:"weight,omitempty" minimum:"0" maximum:"65535" default:"1" doc:"Share among targets of one priority."`
}

// NewTrunkAuth are the credentials of a trunk as they are sent.
type NewTrunkAuth struct {
	Username string `json:"username"`
	Password string `json:"password,omitempty" doc:"Never shown again."`
	Realm    string `json:"realm,omitempty"`
}

// NewMatch is the header that the calls of a trunk carry, as it is sent.
type NewMatch struct {
	Header    string `json:"header" example:"X-Trunk-ID" doc:"Request-URI, From, To, Contact, P-Charge-Info, or an extension header: X- and a name."`
	Parameter string `json:"parameter,omitempty" example:"tgrp" doc:"The parameter of the URI or the header, such as tgrp (RFC 4904) or otg. Required for Request-URI, From, To and Contact. Left out: the whole value counts."`
	Value     string `json:"value" example:"acme" doc:"Compared without regard to case."`
}

// NewTrunkInbound says from where a trunk's calls may come, as it is sent.
type NewTrunkInbound struct {
	AllowedIPs     []string      `json:"allowed_ips,omitempty" nullable:"false" doc:"Addresses and networks. Empty: the addresses of the proxies."`
	Auth           *NewTrunkAuth `json:"auth,omitempty" doc:"Calls have to prove it by digest."`
	Match          *NewMatch     `json:"match,omitempty" doc:"The header by which the carrier tells the calls of this trunk from others that come from the same address. Calls without it are none of the trunk's. Left out: every call from the address."`
	CallsPerSecond float64       `json:"calls_per_second,omitempty" doc:"Calls beyond get 503 with Retry-After. 0: no limit of its own."`
}

// NewRate is what calls to a prefix cost, as it is sent.
type NewRate struct {
	Prefix string `json:"prefix" example:"+1202" doc:"+ is everywhere. The longest that matches counts."`
	Cost   string `json:"cost" example:"0.0045" doc:"Dollars a minute, at most 1000.00; counted by the second."`
}

// NewTrunkAlarms are the bounds of system.degraded as they are sent.
type NewTrunkAlarms struct {
	MinASR            float64 `json:"min_asr,omitempty" doc:"Answered of attempted calls, 0 to 1. 0: no alarm."`
	MinACDSeconds     float64 `json:"min_acd_seconds,omitempty" doc:"Mean length of answered calls. 0: no alarm."`
	MaxShortCallShare float64 `json:"max_short_call_share,omitempty" doc:"Short ones of answered calls, 0 to 1. 0: no alarm."`
	ShortCallSeconds  int     `json:"short_call_seconds,omitempty" doc:"Up to here a call is short."`
	MinCalls          int     `json:"min_calls,omitempty" doc:"There is no judgement over fewer calls."`
}

// NewTrunkNumbers is how a trunk writes numbers, as it is sent.
type NewTrunkNumbers struct {
	NumberFormat  string `json:"number_format,omitempty" enum:"e164,digits,national" doc:"+12025550100, 12025550100, or as it is dialled within number_country."`
	NumberCountry string `json:"number_country,omitempty" doc:"ISO 3166. Of national, and of numbers that come in without a country code. With national, one other than default_country of the workspace takes an operator key."`
	NumberStrip   string `json:"number_strip,omitempty" doc:"Taken off the beginning of the number called, once it is written. Takes an operator key."`
	NumberAdd     string `json:"number_add,omitempty" doc:"Then put before it. Takes an operator key. What is dialled must read as the same number."`
}

// NewTrunkMedia is the audio of a trunk as it is sent.
type NewTrunkMedia struct {
	Codecs        []string `json:"codecs,omitempty" enum:"PCMU,PCMA,G722,opus" nullable:"false" doc:"In the order of preference."`
	DTMF          string   `json:"dtmf,omitempty" enum:"auto,rfc4733,info,inband"`
	SRTP          string   `json:"srtp,omitempty" enum:"off,optional,required" doc:"Keys go in the SDP: without transport tls, optional counts as off."`
	KeysInClear   bool     `json:"srtp_keys_in_clear,omitempty" doc:"Tells keys of SRTP without TLS too, where whoever sees the signalling can listen."`
	NAT           string   `json:"nat,omitempty" enum:"auto,on,off" doc:"Where audio goes: auto to the address in the SDP, and where that may not be reached, to the source of the trunk's RTP; on always to that source; off always to the address in the SDP. Default: auto."`
	MediaNetworks []string `json:"media_networks,omitempty" nullable:"false"`
}

// NewTrunkRouting says which calls a trunk takes, as it is sent.
type NewTrunkRouting struct {
	CallsPerSecond  float64   `json:"calls_per_second,omitempty" doc:"50 unless said. Calls wait for their turn."`
	MaxChannels     int       `json:"max_channels,omitempty" doc:"0: no limit of its own."`
	Prefixes        []string  `json:"prefixes,omitempty" nullable:"false" doc:"Numbers that it takes; empty: all. The trunk with the longest one is taken."`
	Priority        int       `json:"priority,omitempty" minimum:"0" maximum:"65535" doc:"Among trunks of one prefix length: lower first."`
	Costs           []NewRate `json:"costs,omitempty" nullable:"false" doc:"Among trunks of one priority: cheaper first. They also count for daily_spend_cap. Takes an operator key."`
	CallerIDs       []string  `json:"caller_ids,omitempty" nullable:"false" doc:"Numbers that may be shown over it."`
	CallerIDHeaders []string  `json:"caller_id_headers,omitempty" enum:"P-Asserted-Identity,Remote-Party-ID,Diversion" nullable:"false" doc:"Sent to the trunk, and believed of it."`
}

// NewTrunk is a trunk as it is sent.
type NewTrunk struct {
	Name          string        `json:"name"`
	Proxies       []NewProxy    `json:"proxies" nullable:"false"`
	OutboundProxy *NewProxy     `json:"outbound_proxy,omitempty" doc:"What goes to the proxies is sent by way of it."`
	Auth          *NewTrunkAuth `json:"auth,omitempty" doc:"Answers the trunk's digest challenges."`
	Register      bool          `json:"register,omitempty" doc:"Registers at the first proxy with the credentials of auth."`
	FromDomain    string        `json:"from_domain,omitempty"`
	NewTrunkNumbers
	Inbound *NewTrunkInbound `json:"inbound,omitempty"`
	NewTrunkMedia
	NewTrunkRouting
	OptionsPing   bool              `json:"options_ping,omitempty" doc:"Asks the targets every 30 seconds by OPTIONS. One that does not answer comes last, unless its calls succeed."`
	RedirectHosts []string          `json:"redirect_hosts,omitempty" nullable:"false" doc:"Names, addresses and networks to which a 3xx of the trunk may send a call on, for the same number. Empty: 3xx is not followed."`
	SMS           string            `json:"sms,omitempty" enum:"off,plain,imdn" doc:"How it carries text messages by SIP MESSAGE: not at all, as plain text, or wrapped in CPIM with a request for delivery reports."`
	Alarms        *NewTrunkAlarms   `json:"alarms,omitempty" doc:"Beyond these bounds, over the last hour, system.degraded is sent."`
	Metadata      map[string]string `json:"metadata,omitempty"`
}

// trunkAuth is the stored form of credentials; nil where there are none.
func trunkAuth(n *NewTrunkAuth) *domain.TrunkAuth {
	if n == nil || *n == (NewTrunkAuth{}) {
		return nil
	}
	a := domain.TrunkAuth(*n)
	return &a
}

// applyTo writes the formats of numbers to a trunk.
func (n *NewTrunkNumbers) applyTo(t *domain.Trunk) {
	t.NumberFormat, t.NumberCountry, t.NumberStrip, t.NumberAdd = n.NumberFormat, n.NumberCountry, n.NumberStrip, n.NumberAdd
}

// applyTo writes the settings of audio to a trunk.
func (n *NewTrunkMedia) applyTo(t *domain.Trunk) {
	t.DTMF, t.SRTP, t.KeysInClear, t.NAT = n.DTMF, n.SRTP, n.KeysInClear, n.NAT
	t.Codecs, t.MediaNetworks = slices.Clone(n.Codecs), slices.Clone(n.MediaNetworks)
}

// applyTo writes the settings of routing to a trunk.
func (n *NewTrunkRouting) applyTo(t *domain.Trunk) {
	t.CallsPerSecond, t.MaxChannels, t.Priority = n.CallsPerSecond, n.MaxChannels, n.Priority
	t.Prefixes, t.CallerIDs, t.CallerIDHeaders = slices.Clone(n.Prefixes), slices.Clone(n.CallerIDs), slices.Clone(n.CallerIDHeaders)
	t.Costs = make([]domain.Rate, len(n.Costs))
	for i, x := range n.Costs {
		t.Costs[i] = domain.Rate(x)
	}
}

// applyTo writes the settings to a trunk, then checks the trunk.
func (n *NewTrunk) applyTo(t *domain.Trunk) error {
	n.NewTrunkNumbers.applyTo(t)
	n.NewTrunkMedia.applyTo(t)
	n.NewTrunkRouting.applyTo(t)
	t.Name, t.Metadata, t.Register, t.FromDomain = n.Name, n.Metadata, n.Register, n.FromDomain
	t.OptionsPing, t.SMS, t.RedirectHosts = n.OptionsPing, n.SMS, slices.Clone(n.RedirectHosts)
	t.Auth, t.Alarms = trunkAuth(n.Auth), domain.TrunkAlarms(router.ValueOrZero(n.Alarms))
	in := router.ValueOrZero(n.Inbound)
	t.Inbound = domain.TrunkInbound{AllowedIPs: slices.Clone(in.AllowedIPs), Auth: trunkAuth(in.Auth), CallsPerSecond: in.CallsPerSecond}
	t.Inbound.Match = router.Optional(in.Match, func(m NewMatch) domain.TrunkMatch { return domain.TrunkMatch(m) })
	t.Proxies, t.OutboundProxy = make([]domain.Proxy, len(n.Proxies)), nil
	for i, x := range n.Proxies {
		t.Proxies[i] = domain.Proxy(x)
	}
	if n.OutboundProxy != nil && !router.IsDefault(*n.OutboundProxy) {
		proxy := domain.Proxy(*n.OutboundProxy)
		t.OutboundProxy = &proxy
	}
	validation.TrunkDefaults(t)
	return validation.Trunk(t).Err()
}

// ChangeTrunk applies a merge patch to a trunk. A patch that names number_strip or
// number_add also asks for the approval of both.
func ChangeTrunk(registry *router.Registry, body *router.Patch[NewTrunk]) func(*domain.Trunk) error {
	return router.PatchFunc(registry, body, func(n *NewTrunk, t *domain.Trunk) error {
		t.RewriteApproved = t.RewriteApproved || body.Has("number_strip") || body.Has("number_add")
		return n.applyTo(t)
	})
}

// registerTrunks registers the operations of trunks.
func registerTrunks(r *router.Router, trunks Trunks) {
	s := &trunkHandlers{Router: r, trunks: trunks}
	const tag, path = "Trunks", "/v1/trunks"
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "createTrunk", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Connect a trunk", Description: "A trunk of the test environment is stored and never used, as its warnings tell: test keys reach the built-in carrier only. number_strip, number_add, costs and number_format national with a number_country other than the default_country of the workspace take an operator key, else 403 operator_required. warnings also tell of numbers without a cost under a daily_spend_cap."},
		func(ctx context.Context, p domain.Principal, in *struct{ Body NewTrunk }) (*router.Response[*domain.Trunk], error) {
			t := &domain.Trunk{}
			if err := in.Body.applyTo(t); err != nil {
				return nil, err
			}
			made, err := s.trunks.CreateTrunk(ctx, p, t)
			if err != nil {
				return nil, err
			}
			return router.RespondCreated(ctx, made.Public(), nil)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listTrunks", Tag: tag, Summary: "List trunks"},
		router.HandleList(s.trunks, Trunks.ListTrunks, (*domain.Trunk).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getTrunk", Tag: tag, Summary: "Get a trunk"},
		router.HandleByID(domain.PrefixTrunk, s.trunks, Trunks.Trunk, (*domain.Trunk).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateTrunk", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a trunk", Description: "Calls that are running go on as they began. While number_strip or number_add is set, changes of number_strip, number_add, number_format and number_country take an operator key, else 403 operator_required. So do a change of costs, and changes of number_format, number_country, proxies and outbound_proxy while number_format is national and number_country is not the default_country of the workspace. An operator whose patch names number_strip or number_add approves both, also with the same values. A change of proxies or outbound_proxy by anybody else ends that approval."},
		func(ctx context.Context, p domain.Principal, in *struct {
			router.IDParam
			Body router.Patch[NewTrunk]
		},
		) (*router.Response[*domain.Trunk], error) {
			id, err := router.PathID(domain.PrefixTrunk, in.ID)
			if err != nil {
				return nil, err
			}
			return router.RespondPublic(s.trunks.UpdateTrunk(ctx, p, id, ChangeTrunk(s.Registry, &in.Body)))
		})
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: path + "/{id}/test", ID: "testTrunk", Tag: tag, Summary: "Ask a trunk whether it lives",
		Description: "Sends OPTIONS to each target, those that its names lead to included, and tells what they answered. Nothing is sent to a trunk of the test environment; each target tells that.",
	},
		router.HandleByID(domain.PrefixTrunk, s.trunks, Trunks.TestTrunk, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteTrunk", Tag: tag, Summary: "Disconnect a trunk", Description: "409 invalid_state while a phone number stands on it.", Errors: []int{http.StatusConflict}},
		router.HandleDeleteByID(domain.PrefixTrunk, "trunk", s.trunks, Trunks.DeleteTrunk))
}

// CheckRules checks what the schema cannot express.
func (n *NewTrunk) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.applyTo(&domain.Trunk{})
}
