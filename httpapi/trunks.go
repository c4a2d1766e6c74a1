package httpapi

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/rules"
)

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
	Password string `json:"password,omitempty" doc:"Never shown again. In a PATCH it may be left out and stays."`
	Realm    string `json:"realm,omitempty"`
}

// NewTrunkInbound says from where a trunk's calls may come, as it is sent.
type NewTrunkInbound struct {
	AllowedIPs     []string      `json:"allowed_ips,omitempty" nullable:"false" doc:"Addresses and networks. Empty: the addresses of the proxies."`
	Auth           *NewTrunkAuth `json:"auth,omitempty" doc:"Calls have to prove it by digest; an empty username takes it away."`
	CallsPerSecond *float64      `json:"calls_per_second,omitempty" doc:"Calls beyond get 503 with Retry-After. 0: no limit of its own."`
}

// NewRate is what calls to a prefix cost, as it is sent.
type NewRate struct {
	Prefix string `json:"prefix" example:"+1202" doc:"+ is everywhere. The longest that matches counts."`
	Cost   string `json:"cost" example:"0.0045" doc:"Dollars a minute; counted by the second."`
}

// NewTrunkAlarms are the bounds of system.degraded as they are sent.
type NewTrunkAlarms struct {
	MinASR            *float64 `json:"min_asr,omitempty" doc:"Answered of attempted calls, 0 to 1. 0: no alarm."`
	MinACDSeconds     *float64 `json:"min_acd_seconds,omitempty" doc:"Mean length of answered calls. 0: no alarm."`
	MaxShortCallShare *float64 `json:"max_short_call_share,omitempty" doc:"Short ones of answered calls, 0 to 1. 0: no alarm."`
	ShortCallSeconds  *int     `json:"short_call_seconds,omitempty" doc:"Up to here a call is short."`
	MinCalls          *int     `json:"min_calls,omitempty" doc:"There is no judgement over fewer calls."`
}

// TrunkChange is a trunk as it is sent; in a PATCH what is left out stays.
type TrunkChange struct {
	Name            *string           `json:"name,omitempty"`
	Proxies         []NewProxy        `json:"proxies,omitempty" nullable:"false"`
	OutboundProxy   *NewProxy         `json:"outbound_proxy,omitempty" doc:"What goes to the proxies is sent by way of it. An empty host takes it away."`
	Auth            *NewTrunkAuth     `json:"auth,omitempty" doc:"Answers the trunk's digest challenges. An empty username takes it away."`
	Register        *bool             `json:"register,omitempty" doc:"Registers at the first proxy with the credentials of auth."`
	FromDomain      *string           `json:"from_domain,omitempty"`
	NumberFormat    *string           `json:"number_format,omitempty" enum:"e164,digits,national" doc:"+12025550100, 12025550100, or as it is dialled within number_country."`
	NumberCountry   *string           `json:"number_country,omitempty" doc:"ISO 3166. Of national, and of numbers that come in without a country code."`
	NumberStrip     *string           `json:"number_strip,omitempty" doc:"Taken off the beginning of the number called, once it is written. Takes an operator key."`
	NumberAdd       *string           `json:"number_add,omitempty" doc:"Then put before it. Takes an operator key. What is dialled must read as the same number."`
	Inbound         *NewTrunkInbound  `json:"inbound,omitempty"`
	Codecs          []string          `json:"codecs,omitempty" nullable:"false" doc:"PCMU, PCMA, G722, opus, in the order of preference."`
	DTMF            *string           `json:"dtmf,omitempty" enum:"auto,rfc4733,info,inband"`
	SRTP            *string           `json:"srtp,omitempty" enum:"off,optional,required" doc:"Keys go in the SDP: without transport tls, optional counts as off."`
	KeysInClear     *bool             `json:"srtp_keys_in_clear,omitempty" doc:"Tells keys of SRTP without TLS too, where whoever sees the signalling can listen."`
	CallsPerSecond  *float64          `json:"calls_per_second,omitempty" doc:"50 unless said. Calls wait for their turn."`
	MaxChannels     *int              `json:"max_channels,omitempty" doc:"0: no limit of its own."`
	OptionsPing     *bool             `json:"options_ping,omitempty" doc:"Asks the targets every 30 seconds by OPTIONS. One that does not answer comes last, unless its calls succeed."`
	MediaNetworks   []string          `json:"media_networks,omitempty" nullable:"false"`
	RedirectHosts   []string          `json:"redirect_hosts,omitempty" nullable:"false" doc:"Names, addresses and networks to which a 3xx of the trunk may send a call on, for the same number. Empty: 3xx is not followed."`
	SMS             *string           `json:"sms,omitempty" enum:"off,plain,imdn" doc:"How it carries text messages by SIP MESSAGE: not at all, as plain text, or wrapped in CPIM with a request for delivery reports."`
	Prefixes        []string          `json:"prefixes,omitempty" nullable:"false" doc:"Numbers that it takes; empty: all. The trunk with the longest one is taken."`
	Priority        *int              `json:"priority,omitempty" minimum:"0" maximum:"65535" doc:"Among trunks of one prefix length: lower first."`
	Costs           []NewRate         `json:"costs,omitempty" nullable:"false" doc:"Among trunks of one priority: cheaper first. They also count for daily_spend_cap."`
	CallerIDs       []string          `json:"caller_ids,omitempty" nullable:"false" doc:"Numbers that may be shown over it."`
	CallerIDHeaders []string          `json:"caller_id_headers,omitempty" nullable:"false" doc:"P-Asserted-Identity, Remote-Party-ID, Diversion: sent to the trunk, and believed of it."`
	Alarms          *NewTrunkAlarms   `json:"alarms,omitempty" doc:"Beyond these bounds, over the last hour, system.degraded is sent."`
	Metadata        map[string]string `json:"metadata,omitempty"`
}

// authOf is the new value of credentials: a password that is left out stays.
func authOf(was *domain.TrunkAuth, n *NewTrunkAuth) *domain.TrunkAuth {
	if n == nil {
		return was
	}
	if *n == (NewTrunkAuth{}) {
		return nil
	}
	a := domain.TrunkAuth(*n)
	if a.Password == "" && was != nil {
		a.Password = was.Password
	}
	return &a
}

func (n *TrunkChange) apply(t *domain.Trunk) error {
	for _, f := range []struct{ into, from *string }{
		{&t.Name, n.Name},
		{&t.FromDomain, n.FromDomain},
		{&t.NumberFormat, n.NumberFormat},
		{&t.NumberCountry, n.NumberCountry},
		{&t.NumberStrip, n.NumberStrip},
		{&t.NumberAdd, n.NumberAdd},
		{&t.DTMF, n.DTMF},
		{&t.SRTP, n.SRTP},
		{&t.SMS, n.SMS},
	} {
		set(f.into, f.from)
	}
	set(&t.Register, n.Register)
	set(&t.KeysInClear, n.KeysInClear)
	set(&t.OptionsPing, n.OptionsPing)
	set(&t.CallsPerSecond, n.CallsPerSecond)
	set(&t.MaxChannels, n.MaxChannels)
	set(&t.Priority, n.Priority)
	if n.Proxies != nil {
		t.Proxies = make([]domain.Proxy, len(n.Proxies))
		for i, x := range n.Proxies {
			t.Proxies[i] = domain.Proxy(x)
		}
	}
	if x := n.OutboundProxy; x != nil {
		proxy := domain.Proxy(*x)
		if t.OutboundProxy = &proxy; saysNothing(*x) {
			t.OutboundProxy = nil
		}
	}
	t.Auth = authOf(t.Auth, n.Auth)
	n.applyInbound(t)
	if n.Costs != nil {
		t.Costs = make([]domain.Rate, len(n.Costs))
		for i, x := range n.Costs {
			t.Costs[i] = domain.Rate(x)
		}
	}
	for _, l := range []struct {
		into *[]string
		from []string
	}{
		{&t.Codecs, n.Codecs},
		{&t.MediaNetworks, n.MediaNetworks},
		{&t.RedirectHosts, n.RedirectHosts},
		{&t.Prefixes, n.Prefixes},
		{&t.CallerIDs, n.CallerIDs},
		{&t.CallerIDHeaders, n.CallerIDHeaders},
	} {
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

func (n *TrunkChange) applyInbound(t *domain.Trunk) {
	if in := n.Inbound; in != nil {
		if in.AllowedIPs != nil {
			t.Inbound.AllowedIPs = append([]string{}, in.AllowedIPs...)
		}
		t.Inbound.Auth = authOf(t.Inbound.Auth, in.Auth)
		set(&t.Inbound.CallsPerSecond, in.CallsPerSecond)
	}
	if a := n.Alarms; a != nil {
		set(&t.Alarms.MinASR, a.MinASR)
		set(&t.Alarms.MinACDSeconds, a.MinACDSeconds)
		set(&t.Alarms.MaxShortCallShare, a.MaxShortCallShare)
		set(&t.Alarms.ShortCallSeconds, a.ShortCallSeconds)
		set(&t.Alarms.MinCalls, a.MinCalls)
	}
}

func (s *Server) trunkRoutes() {
	const tag, path = "Trunks", "/v1/trunks"
	add(s, operation{method: http.MethodPost, path: path, id: "createTrunk", credential: keyOrSession, tag: tag, status: http.StatusCreated, summary: "Connect a trunk", about: "A trunk of the test environment is stored and never used, as its warnings tell: test keys reach the built-in carrier only. number_strip and number_add take an operator key, else 403 operator_required."},
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
	add(s, operation{method: http.MethodPatch, path: path + "/{id}", id: "updateTrunk", credential: keyOrSession, tag: tag, summary: "Change a trunk", about: "Calls that are running go on as they began. While number_strip or number_add is set, changes of number_strip, number_add, number_format and number_country take an operator key, else 403 operator_required."},
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
	add(s, operation{
		method: http.MethodPost, path: path + "/{id}/test", id: "testTrunk", tag: tag, summary: "Ask a trunk whether it lives",
		about: "Sends OPTIONS to each target, those that its names lead to included, and tells what they answered. Nothing is sent to a trunk of the test environment; each target tells that.",
	},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[ask.TrunkTest], error) {
			id, err := named(domain.PrefixTrunk, in.ID)
			if err != nil {
				return nil, err
			}
			return ok(s.ports.Trunks.TestTrunk(ctx, p, id))
		})
	add(s, operation{method: http.MethodDelete, path: path + "/{id}", id: "deleteTrunk", tag: tag, summary: "Disconnect a trunk", about: "409 invalid_state while a phone number stands on it.", errors: []int{http.StatusConflict}},
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
