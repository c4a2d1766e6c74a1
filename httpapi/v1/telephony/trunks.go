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

// Trunks manages SIP trunks.
type Trunks interface {
	CreateTrunk(ctx context.Context, p domain.Principal, t *domain.Trunk) (*domain.Trunk, error)
	Trunk(ctx context.Context, p domain.Principal, id string) (*domain.Trunk, error)
	ListTrunks(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Trunk], error)
	UpdateTrunk(ctx context.Context, p domain.Principal, id string, change func(*domain.Trunk) error) (*domain.Trunk, error)
	DeleteTrunk(ctx context.Context, p domain.Principal, id string) error
	// TestTrunk sends a SIP OPTIONS request to each target address of a trunk and waits a few seconds for responses.
	TestTrunk(ctx context.Context, p domain.Principal, id string) (trunks.TrunkTest, error)
}

// trunkHandlers serves the operations of trunks.
type trunkHandlers struct {
	*router.Router

	trunks Trunks
}

// NewProxy is one SIP server of a trunk in a request body.
type NewProxy struct {
	Host      string `json:"host" example:"sip.example.com"`
	Port      int    `json:"port,omitempty" minimum:"0" maximum:"65535" doc:"Default: the SRV records of the host, otherwise 5060, with TLS 5061."`
	Transport string `json:"transport,omitempty" enum:"udp,tcp,tls" doc:"Default: the NAPTR and SRV records of a host without a port, otherwise udp."`
	Priority  int    `json:"priority,omitempty" minimum:"0" maximum:"65535" doc:"Priority; lower first."`
	Weight    int    `json:"weight,omitempty" minimum:"0" maximum:"65535" default:"1" doc:"Relative share of calls among targets of the same priority."`
}

// NewTrunkAuth are the credentials of a trunk in a request body.
type NewTrunkAuth struct {
	Username string `json:"username"`
	Password string `json:"password,omitempty" doc:"The password. Responses never contain it."`
	Realm    string `json:"realm,omitempty"`
}

// NewMatch is a rule in a request body that assigns an inbound call to a trunk by the value of a SIP header.
type NewMatch struct {
	Header    string `json:"header" example:"X-Trunk-ID" doc:"Request-URI, From, To, Contact, P-Charge-Info, or an extension header X-…."`
	Parameter string `json:"parameter,omitempty" example:"tgrp" doc:"Parameter of the URI or the header, such as tgrp (RFC 4904) or otg. Required for Request-URI, From, To and Contact. Default: the whole header value."`
	Value     string `json:"value" example:"acme" doc:"Expected value, compared without regard to case."`
}

// NewTrunkInbound are the rules for inbound calls of a trunk in a request body.
type NewTrunkInbound struct {
	AllowedIPs     []string      `json:"allowed_ips,omitempty" nullable:"false" doc:"Addresses and networks from which calls are accepted. Empty: the addresses of the proxies."`
	Auth           *NewTrunkAuth `json:"auth,omitempty" doc:"Credentials that inbound calls must prove by digest authentication."`
	Match          *NewMatch     `json:"match,omitempty" doc:"Header that distinguishes calls of this trunk from other calls from the same address. Calls without this header do not belong to the trunk. Default: every call from the address."`
	CallsPerSecond float64       `json:"calls_per_second,omitempty" doc:"Maximum inbound calls per second. Further calls get 503 with Retry-After. 0: no limit."`
}

// NewRate is the cost of calls to a prefix in a request body.
type NewRate struct {
	Prefix string `json:"prefix" example:"+1202" doc:"Number prefix; + matches every number. The longest matching prefix applies."`
	Cost   string `json:"cost" example:"0.0045" doc:"Dollars per minute, at most 1000.00, charged per second."`
}

// NewTrunkAlarms holds the thresholds of a trunk in a request body. A crossed threshold raises system.degraded.
type NewTrunkAlarms struct {
	MinASR            float64 `json:"min_asr,omitempty" doc:"Minimum answer-seizure ratio, 0 to 1. 0: no alarm."`
	MinACDSeconds     float64 `json:"min_acd_seconds,omitempty" doc:"Minimum average call duration of answered calls. 0: no alarm."`
	MaxShortCallShare float64 `json:"max_short_call_share,omitempty" doc:"Maximum share of short calls among answered calls, 0 to 1. 0: no alarm."`
	ShortCallSeconds  int     `json:"short_call_seconds,omitempty" doc:"Maximum duration of a short call."`
	MinCalls          int     `json:"min_calls,omitempty" doc:"Minimum number of calls for an alarm."`
}

// NewTrunkNumbers are the number formats of a trunk in a request body.
type NewTrunkNumbers struct {
	NumberFormat  string `json:"number_format,omitempty" enum:"e164,digits,national" doc:"Format of numbers on the trunk. e164: +12025550100. digits: 12025550100. national: as dialed within number_country."`
	NumberCountry string `json:"number_country,omitempty" doc:"Country of the national format, and of inbound numbers without a country code, as an ISO 3166 code. With national, another country than default_country of the workspace needs an operator key."`
	NumberStrip   string `json:"number_strip,omitempty" doc:"Prefix that is removed from the formatted called number. Needs an operator key."`
	NumberAdd     string `json:"number_add,omitempty" doc:"Prefix that is then added to the called number. Needs an operator key. The result must still be the same number."`
}

// NewTrunkMedia are the audio settings of a trunk in a request body.
type NewTrunkMedia struct {
	Codecs        []string `json:"codecs,omitempty" enum:"PCMU,PCMA,G722,opus" nullable:"false" doc:"Codecs in order of preference."`
	DTMF          string   `json:"dtmf,omitempty" enum:"auto,rfc4733,info,inband"`
	SRTP          string   `json:"srtp,omitempty" enum:"off,optional,required" doc:"SRTP with keys in SDP. Without transport tls, optional counts as off."`
	KeysInClear   bool     `json:"srtp_keys_in_clear,omitempty" doc:"true: SRTP keys are also sent without TLS. Anyone who sees the signaling can then decrypt the audio."`
	NAT           string   `json:"nat,omitempty" enum:"auto,on,off" doc:"Destination of audio. off: the address in the SDP. on: the source address of the trunk's RTP. auto: the address in the SDP, or the RTP source if that address is not allowed. Default: auto."`
	MediaNetworks []string `json:"media_networks,omitempty" nullable:"false"`
}

// NewTrunkRouting are the routing settings of a trunk in a request body.
type NewTrunkRouting struct {
	CallsPerSecond  float64   `json:"calls_per_second,omitempty" doc:"Maximum outbound calls per second. Further calls wait. Default: 50."`
	MaxChannels     int       `json:"max_channels,omitempty" doc:"Maximum concurrent calls. 0: no limit."`
	Prefixes        []string  `json:"prefixes,omitempty" nullable:"false" doc:"Number prefixes that the trunk carries; empty: all. The trunk with the longest matching prefix is used."`
	Priority        int       `json:"priority,omitempty" minimum:"0" maximum:"65535" doc:"Priority among trunks with the same prefix length; lower first."`
	Costs           []NewRate `json:"costs,omitempty" nullable:"false" doc:"Costs of calls. Among trunks of the same priority the cheaper one is used first. daily_spend_cap counts by these costs. Needs an operator key."`
	CallerIDs       []string  `json:"caller_ids,omitempty" nullable:"false" doc:"Numbers that calls over the trunk may show as caller ID."`
	CallerIDHeaders []string  `json:"caller_id_headers,omitempty" enum:"P-Asserted-Identity,Remote-Party-ID,Diversion" nullable:"false" doc:"Caller ID headers that are sent to the trunk and trusted from it."`
}

// NewTrunk is a trunk in a request body.
type NewTrunk struct {
	Name          string        `json:"name"`
	Proxies       []NewProxy    `json:"proxies" nullable:"false"`
	OutboundProxy *NewProxy     `json:"outbound_proxy,omitempty" doc:"Proxy through which requests to the targets are sent."`
	Auth          *NewTrunkAuth `json:"auth,omitempty" doc:"Credentials for digest challenges of the trunk."`
	Register      bool          `json:"register,omitempty" doc:"true: Callboard registers at the first proxy with the credentials of auth."`
	FromDomain    string        `json:"from_domain,omitempty"`
	NewTrunkNumbers
	Inbound *NewTrunkInbound `json:"inbound,omitempty"`
	NewTrunkMedia
	NewTrunkRouting
	OptionsPing   bool              `json:"options_ping,omitempty" doc:"true: Callboard sends OPTIONS to the targets every 30 seconds. A target without a response is used last, unless its calls succeed."`
	RedirectHosts []string          `json:"redirect_hosts,omitempty" nullable:"false" doc:"Hosts, addresses and networks to which a 3xx of the trunk may redirect a call for the same number. Empty: no redirect is followed."`
	SMS           string            `json:"sms,omitempty" enum:"off,plain,imdn" doc:"Text messages by SIP MESSAGE. off: none. plain: plain text. imdn: CPIM with a request for delivery notifications."`
	Alarms        *NewTrunkAlarms   `json:"alarms,omitempty" doc:"Thresholds over the last hour beyond which system.degraded is sent."`
	Metadata      map[string]string `json:"metadata,omitempty"`
}

// trunkAuth converts credentials in a request body to the stored form. It returns nil if the body has none.
func trunkAuth(n *NewTrunkAuth) *domain.TrunkAuth {
	if n == nil || *n == (NewTrunkAuth{}) {
		return nil
	}
	a := domain.TrunkAuth(*n)
	return &a
}

// applyTo writes the number formats to a trunk.
func (n *NewTrunkNumbers) applyTo(t *domain.Trunk) {
	t.NumberFormat, t.NumberCountry, t.NumberStrip, t.NumberAdd = n.NumberFormat, n.NumberCountry, n.NumberStrip, n.NumberAdd
}

// applyTo writes the audio settings to a trunk.
func (n *NewTrunkMedia) applyTo(t *domain.Trunk) {
	t.DTMF, t.SRTP, t.KeysInClear, t.NAT = n.DTMF, n.SRTP, n.KeysInClear, n.NAT
	t.Codecs, t.MediaNetworks = slices.Clone(n.Codecs), slices.Clone(n.MediaNetworks)
}

// applyTo writes the routing settings to a trunk.
func (n *NewTrunkRouting) applyTo(t *domain.Trunk) {
	t.CallsPerSecond, t.MaxChannels, t.Priority = n.CallsPerSecond, n.MaxChannels, n.Priority
	t.Prefixes, t.CallerIDs, t.CallerIDHeaders = slices.Clone(n.Prefixes), slices.Clone(n.CallerIDs), slices.Clone(n.CallerIDHeaders)
	t.Costs = make([]domain.Rate, len(n.Costs))
	for i, x := range n.Costs {
		t.Costs[i] = domain.Rate(x)
	}
}

// applyTo writes the settings to a trunk and validates the trunk.
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

// ChangeTrunk returns a function that applies a merge patch to a trunk. If the patch contains number_strip or
// number_add, the function also requests approval of the trunk's number rewriting, which only operators can give.
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
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "createTrunk", Credential: router.KeyOrSession, Tag: tag, Status: http.StatusCreated, Summary: "Create a trunk", Description: "A trunk of the test environment is stored but never used, because test keys use the test carrier only; its warnings say so. number_strip, number_add, costs, and number_format national with another number_country than default_country of the workspace need an operator key, otherwise 403 operator_required. warnings also list numbers without a cost under a daily_spend_cap."},
		func(ctx context.Context, p domain.Principal, in *struct{ Body NewTrunk }) (*router.Response[*domain.Trunk], error) {
			t := &domain.Trunk{}
			if err := in.Body.applyTo(t); err != nil {
				return nil, err
			}
			created, err := s.trunks.CreateTrunk(ctx, p, t)
			if err != nil {
				return nil, err
			}
			return router.RespondCreated(ctx, created.Public(), nil)
		})
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listTrunks", Tag: tag, Summary: "List trunks"},
		router.HandleList(s.trunks, Trunks.ListTrunks, (*domain.Trunk).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getTrunk", Tag: tag, Summary: "Get a trunk"},
		router.HandleByID(domain.PrefixTrunk, s.trunks, Trunks.Trunk, (*domain.Trunk).Public))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateTrunk", Credential: router.KeyOrSession, Tag: tag, Summary: "Change a trunk", Description: "Running calls are not affected. While number_strip or number_add is set, changes of number_strip, number_add, number_format and number_country need an operator key, otherwise 403 operator_required. Changes of costs need one too. So do changes of number_format, number_country, proxies and outbound_proxy while number_format is national and number_country is not default_country of the workspace. A patch by an operator that contains number_strip or number_add approves both, also with unchanged values. A change of proxies or outbound_proxy by another key ends that approval."},
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
		Method: http.MethodPost, Path: path + "/{id}/test", ID: "testTrunk", Tag: tag, Summary: "Test a trunk by OPTIONS",
		Description: "Sends OPTIONS to each target, including all addresses of its host names, and returns the responses. Nothing is sent to a trunk of the test environment; its targets report that.",
	},
		router.HandleByID(domain.PrefixTrunk, s.trunks, Trunks.TestTrunk, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteTrunk", Tag: tag, Summary: "Delete a trunk", Description: "409 invalid_state while a phone number uses the trunk.", Errors: []int{http.StatusConflict}},
		router.HandleDeleteByID(domain.PrefixTrunk, "trunk", s.trunks, Trunks.DeleteTrunk))
}

// CheckRules returns the violations of rules that the JSON schema cannot express.
func (n *NewTrunk) CheckRules(context.Context, router.Workspaces, domain.Principal) error {
	return n.applyTo(&domain.Trunk{})
}
