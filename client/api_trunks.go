// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListTrunksQuery is what ListTrunks can be asked; what is zero is left out.
type ListTrunksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListTrunksQuery) values() url.Values {
	v := make(url.Values)
	if q.Limit != 0 {
		v.Set("limit", strconv.FormatInt(q.Limit, 10))
	}
	if q.Cursor != "" {
		v.Set("cursor", q.Cursor)
	}
	if !q.CreatedAfter.IsZero() {
		v.Set("created_after", q.CreatedAfter.UTC().Format(time.RFC3339Nano))
	}
	if !q.CreatedBefore.IsZero() {
		v.Set("created_before", q.CreatedBefore.UTC().Format(time.RFC3339Nano))
	}
	return v
}

// ListTrunks: List trunks.
//
// GET /v1/trunks
func (c *Client) ListTrunks(ctx context.Context, q ListTrunksQuery, options ...Option) (*ListTrunk, error) {
	return send[ListTrunk](ctx, c, "GET", "/v1/trunks", q.values(), nil, options)
}

// AllTrunks walks the pages of ListTrunks to their end; an error is the last that comes.
func (c *Client) AllTrunks(ctx context.Context, q ListTrunksQuery, options ...Option) iter.Seq2[Trunk, error] {
	return pages(&q.Cursor, func() ([]Trunk, *string, error) {
		l, err := c.ListTrunks(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateTrunk: Connect a trunk.
//
// POST /v1/trunks
//
// Needs an API key or a dashboard session. A trunk of the test environment is stored and never used, as its warnings tell: test keys reach the built-in carrier only. number_strip, number_add, costs and number_format national with a number_country other than the default_country of the workspace take an operator key, else 403 operator_required. warnings also tell of numbers without a cost under a daily_spend_cap.
func (c *Client) CreateTrunk(ctx context.Context, body *NewTrunk, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "POST", "/v1/trunks", nil, asJSON(body), options)
}

// DeleteTrunk: Disconnect a trunk.
//
// DELETE /v1/trunks/{id}
//
// 409 invalid_state while a phone number stands on it.
func (c *Client) DeleteTrunk(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/trunks/"+url.PathEscape(id), nil, nil, options)
}

// GetTrunk: Get a trunk.
//
// GET /v1/trunks/{id}
func (c *Client) GetTrunk(ctx context.Context, id string, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "GET", "/v1/trunks/"+url.PathEscape(id), nil, nil, options)
}

// UpdateTrunk: Change a trunk.
//
// PATCH /v1/trunks/{id}
//
// Needs an API key or a dashboard session. Calls that are running go on as they began. While number_strip or number_add is set, changes of number_strip, number_add, number_format and number_country take an operator key, else 403 operator_required. So do a change of costs, and changes of number_format, number_country, proxies and outbound_proxy while number_format is national and number_country is not the default_country of the workspace. An operator whose patch names number_strip or number_add approves both, also with the same values. A change of proxies or outbound_proxy by anybody else ends that approval.
func (c *Client) UpdateTrunk(ctx context.Context, id string, body *TrunkUpdate, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "PATCH", "/v1/trunks/"+url.PathEscape(id), nil, asJSON(body), options)
}

// TestTrunk: Ask a trunk whether it lives.
//
// POST /v1/trunks/{id}/test
//
// Sends OPTIONS to each target, those that its names lead to included, and tells what they answered. Nothing is sent to a trunk of the test environment; each target tells that.
func (c *Client) TestTrunk(ctx context.Context, id string, options ...Option) (*TrunkTest, error) {
	return send[TrunkTest](ctx, c, "POST", "/v1/trunks/"+url.PathEscape(id)+"/test", nil, nil, options)
}

// NewMatch is sent to the service.
type NewMatch struct {
	// Request-URI, From, To, Contact, P-Charge-Info, or an extension header: X- and a name.
	Header string `json:"header"`
	// The parameter of the URI or the header, such as tgrp (RFC 4904) or otg. Required for Request-URI, From, To and Contact. Left out: the whole value counts.
	Parameter *string `json:"parameter,omitempty"`
	// Compared without regard to case.
	Value string `json:"value"`
}

// NewTrunk is sent to the service.
type NewTrunk struct {
	// Beyond these bounds, over the last hour, system.degraded is sent.
	Alarms *NewTrunkAlarms `json:"alarms,omitempty"`
	// Answers the trunk's digest challenges.
	Auth *NewTrunkAuth `json:"auth,omitempty"`
	// Sent to the trunk, and believed of it.
	CallerIDHeaders []string `json:"caller_id_headers,omitzero"`
	// Numbers that may be shown over it.
	CallerIDs []string `json:"caller_ids,omitzero"`
	// 50 unless said. Calls wait for their turn.
	CallsPerSecond *float64 `json:"calls_per_second,omitempty"`
	// In the order of preference.
	Codecs []string `json:"codecs,omitzero"`
	// Among trunks of one priority: cheaper first. They also count for daily_spend_cap. Takes an operator key.
	Costs []NewRate `json:"costs,omitzero"`
	// The way of key presses; auto: as events where both ends take them, else as tones. One of auto, rfc4733, info, inband.
	Dtmf *string `json:"dtmf,omitempty"`
	// The host of From; empty: our own.
	FromDomain *string `json:"from_domain,omitempty"`
	// From where its calls may come.
	Inbound *NewTrunkInbound `json:"inbound,omitempty"`
	// 0: no limit of its own.
	MaxChannels *int64 `json:"max_channels,omitempty"`
	// From where its sound may come, and where it may go, besides its proxies.
	MediaNetworks []string `json:"media_networks,omitzero"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Where audio goes: auto to the address in the SDP, and where that may not be reached, to the source of the trunk's RTP; on always to that source; off always to the address in the SDP. Default: auto. One of auto, on, off.
	Nat *string `json:"nat,omitempty"`
	// Then put before it. Takes an operator key. What is dialled must read as the same number.
	NumberAdd *string `json:"number_add,omitempty"`
	// ISO 3166. Of national, and of numbers that come in without a country code. With national, one other than default_country of the workspace takes an operator key.
	NumberCountry *string `json:"number_country,omitempty"`
	// +12025550100, 12025550100, or as it is dialled within number_country. One of e164, digits, national.
	NumberFormat *string `json:"number_format,omitempty"`
	// Taken off the beginning of the number called, once it is written. Takes an operator key.
	NumberStrip *string `json:"number_strip,omitempty"`
	// Asks the targets every 30 seconds by OPTIONS. One that does not answer comes last, unless its calls succeed.
	OptionsPing *bool `json:"options_ping,omitempty"`
	// What goes to the proxies is sent by way of it.
	OutboundProxy *NewProxy `json:"outbound_proxy,omitempty"`
	// Numbers that it takes; empty: all. The trunk with the longest one is taken.
	Prefixes []string `json:"prefixes,omitzero"`
	// Among trunks of one prefix length: lower first.
	Priority *int64 `json:"priority,omitempty"`
	// Its targets, 20 at most.
	Proxies []NewProxy `json:"proxies"`
	// Names, addresses and networks to which a 3xx of the trunk may send a call on, for the same number. Empty: 3xx is not followed.
	RedirectHosts []string `json:"redirect_hosts,omitzero"`
	// Registers at the first proxy with the credentials of auth.
	Register *bool `json:"register,omitempty"`
	// How it carries text messages by SIP MESSAGE: not at all, as plain text, or wrapped in CPIM with a request for delivery reports. One of off, plain, imdn.
	SMS *string `json:"sms,omitempty"`
	// Keys go in the SDP: without transport tls, optional counts as off. One of off, optional, required.
	Srtp *string `json:"srtp,omitempty"`
	// Tells keys of SRTP without TLS too, where whoever sees the signalling can listen.
	SrtpKeysInClear *bool `json:"srtp_keys_in_clear,omitempty"`
}

// NewTrunkAlarms is sent to the service.
type NewTrunkAlarms struct {
	// Short ones of answered calls, 0 to 1. 0: no alarm.
	MaxShortCallShare *float64 `json:"max_short_call_share,omitempty"`
	// Mean length of answered calls. 0: no alarm.
	MinAcdSeconds *float64 `json:"min_acd_seconds,omitempty"`
	// Answered of attempted calls, 0 to 1. 0: no alarm.
	MinAsr *float64 `json:"min_asr,omitempty"`
	// There is no judgement over fewer calls.
	MinCalls *int64 `json:"min_calls,omitempty"`
	// Up to here a call is short.
	ShortCallSeconds *int64 `json:"short_call_seconds,omitempty"`
}

// NewTrunkAuth is sent to the service.
type NewTrunkAuth struct {
	// Never shown again.
	Password *string `json:"password,omitempty"`
	// The only realm that is answered; empty: any.
	Realm *string `json:"realm,omitempty"`
	// The name at the carrier.
	Username string `json:"username"`
}

// NewTrunkInbound is sent to the service.
type NewTrunkInbound struct {
	// Addresses and networks. Empty: the addresses of the proxies.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Calls have to prove it by digest.
	Auth *NewTrunkAuth `json:"auth,omitempty"`
	// Calls beyond get 503 with Retry-After. 0: no limit of its own.
	CallsPerSecond *float64 `json:"calls_per_second,omitempty"`
	// The header by which the carrier tells the calls of this trunk from others that come from the same address. Calls without it are none of the trunk's. Left out: every call from the address.
	Match *NewMatch `json:"match,omitempty"`
}

// TargetTest is an answer of the service, or a part of one.
type TargetTest struct {
	// The methods that it says it knows.
	Allow string `json:"allow,omitzero"`
	// What it answered; 0: nothing.
	Code int64 `json:"code"`
	// Why there was no answer.
	Error string `json:"error,omitzero"`
	// Whether it answered.
	Reachable bool `json:"reachable"`
	// The phrase of its answer.
	Reason string `json:"reason"`
	// How long that took.
	ResponseTimeMs int64 `json:"response_time_ms"`
	// What it calls itself.
	Server string `json:"server,omitzero"`
	// host:port;transport.
	Target string `json:"target"`
}

// TrunkTest is an answer of the service, or a part of one.
type TrunkTest struct {
	// Whether any target answered.
	Ok bool `json:"ok"`
	// Each target and what it answered.
	Targets []TargetTest `json:"targets"`
	// Over which trunk.
	TrunkID string `json:"trunk_id"`
}
