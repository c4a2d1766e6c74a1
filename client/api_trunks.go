// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListTrunksQuery holds the query parameters of ListTrunks. Zero values are not sent.
type ListTrunksQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the previous page.
	Cursor string
	// Only resources created after this time.
	CreatedAfter time.Time
	// Only resources created before this time.
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

// AllTrunks iterates over all pages of ListTrunks. It ends after the first error.
func (c *Client) AllTrunks(ctx context.Context, q ListTrunksQuery, options ...Option) iter.Seq2[Trunk, error] {
	return pages(&q.Cursor, func() ([]Trunk, *string, error) {
		l, err := c.ListTrunks(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreateTrunk: Create a trunk.
//
// POST /v1/trunks
//
// Needs an API key or a dashboard session. A trunk of the test environment is stored but never used, because test keys use the test carrier only; its warnings say so. number_strip, number_add, costs, and number_format national with another number_country than default_country of the workspace need an operator key, otherwise 403 operator_required. warnings also list numbers without a cost under a daily_spend_cap.
func (c *Client) CreateTrunk(ctx context.Context, body *NewTrunk, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "POST", "/v1/trunks", nil, asJSON(body), options)
}

// DeleteTrunk: Delete a trunk.
//
// DELETE /v1/trunks/{id}
//
// 409 invalid_state while a phone number uses the trunk.
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
// Needs an API key or a dashboard session. Running calls are not affected. While number_strip or number_add is set, changes of number_strip, number_add, number_format and number_country need an operator key, otherwise 403 operator_required. Changes of costs need one too. So do changes of number_format, number_country, proxies and outbound_proxy while number_format is national and number_country is not default_country of the workspace. A patch by an operator that contains number_strip or number_add approves both, also with unchanged values. A change of proxies or outbound_proxy by another key ends that approval.
func (c *Client) UpdateTrunk(ctx context.Context, id string, body *TrunkUpdate, options ...Option) (*Trunk, error) {
	return send[Trunk](ctx, c, "PATCH", "/v1/trunks/"+url.PathEscape(id), nil, asJSON(body), options)
}

// TestTrunk: Test a trunk by OPTIONS.
//
// POST /v1/trunks/{id}/test
//
// Sends OPTIONS to each target, including all addresses of its host names, and returns the responses. Nothing is sent to a trunk of the test environment; its targets report that.
func (c *Client) TestTrunk(ctx context.Context, id string, options ...Option) (*TrunkTest, error) {
	return send[TrunkTest](ctx, c, "POST", "/v1/trunks/"+url.PathEscape(id)+"/test", nil, nil, options)
}

// NewMatch is part of a request.
type NewMatch struct {
	// Request-URI, From, To, Contact, P-Charge-Info, or an extension header X-….
	Header string `json:"header"`
	// Parameter of the URI or the header, such as tgrp (RFC 4904) or otg. Required for Request-URI, From, To and Contact. Default: the whole header value.
	Parameter *string `json:"parameter,omitempty"`
	// Expected value, compared without regard to case.
	Value string `json:"value"`
}

// NewTrunk is part of a request.
type NewTrunk struct {
	// Thresholds over the last hour beyond which system.degraded is sent.
	Alarms *NewTrunkAlarms `json:"alarms,omitempty"`
	// Credentials for digest challenges of the trunk.
	Auth *NewTrunkAuth `json:"auth,omitempty"`
	// Caller ID headers that are sent to the trunk and trusted from it.
	CallerIDHeaders []string `json:"caller_id_headers,omitzero"`
	// Numbers that calls over the trunk may show as caller ID.
	CallerIDs []string `json:"caller_ids,omitzero"`
	// Maximum outbound calls per second. Further calls wait. Default: 50.
	CallsPerSecond *float64 `json:"calls_per_second,omitempty"`
	// Codecs in order of preference.
	Codecs []string `json:"codecs,omitzero"`
	// Costs of calls. Among trunks of the same priority the cheaper one is used first. daily_spend_cap counts by these costs. Needs an operator key.
	Costs []NewRate `json:"costs,omitzero"`
	// DTMF method. auto: telephone events (RFC 4733) if both ends support them, otherwise inband tones. One of auto, rfc4733, info, inband.
	Dtmf *string `json:"dtmf,omitempty"`
	// Host of the From header; empty: the host of Callboard.
	FromDomain *string `json:"from_domain,omitempty"`
	// Rules for inbound calls.
	Inbound *NewTrunkInbound `json:"inbound,omitempty"`
	// Maximum concurrent calls. 0: no limit.
	MaxChannels *int64 `json:"max_channels,omitempty"`
	// Networks to and from which audio is allowed, in addition to the proxies.
	MediaNetworks []string `json:"media_networks,omitzero"`
	// Up to 50 keys with text for your own use. The service returns them and never reads them.
	Metadata map[string]string `json:"metadata,omitzero"`
	// Name for people.
	Name string `json:"name"`
	// Destination of audio. off: the address in the SDP. on: the source address of the trunk's RTP. auto: the address in the SDP, or the RTP source if that address is not allowed. Default: auto. One of auto, on, off.
	Nat *string `json:"nat,omitempty"`
	// Prefix that is then added to the called number. Needs an operator key. The result must still be the same number.
	NumberAdd *string `json:"number_add,omitempty"`
	// Country of the national format, and of inbound numbers without a country code, as an ISO 3166 code. With national, another country than default_country of the workspace needs an operator key.
	NumberCountry *string `json:"number_country,omitempty"`
	// Format of numbers on the trunk. e164: +12025550100. digits: 12025550100. national: as dialed within number_country. One of e164, digits, national.
	NumberFormat *string `json:"number_format,omitempty"`
	// Prefix that is removed from the formatted called number. Needs an operator key.
	NumberStrip *string `json:"number_strip,omitempty"`
	// true: Callboard sends OPTIONS to the targets every 30 seconds. A target without a response is used last, unless its calls succeed.
	OptionsPing *bool `json:"options_ping,omitempty"`
	// Proxy through which requests to the targets are sent.
	OutboundProxy *NewProxy `json:"outbound_proxy,omitempty"`
	// Number prefixes that the trunk carries; empty: all. The trunk with the longest matching prefix is used.
	Prefixes []string `json:"prefixes,omitzero"`
	// Priority among trunks with the same prefix length; lower first.
	Priority *int64 `json:"priority,omitempty"`
	// Targets of the trunk, at most 20.
	Proxies []NewProxy `json:"proxies"`
	// Hosts, addresses and networks to which a 3xx of the trunk may redirect a call for the same number. Empty: no redirect is followed.
	RedirectHosts []string `json:"redirect_hosts,omitzero"`
	// true: Callboard registers at the first proxy with the credentials of auth.
	Register *bool `json:"register,omitempty"`
	// Text messages by SIP MESSAGE. off: none. plain: plain text. imdn: CPIM with a request for delivery notifications. One of off, plain, imdn.
	SMS *string `json:"sms,omitempty"`
	// SRTP with keys in SDP. Without transport tls, optional counts as off. One of off, optional, required.
	Srtp *string `json:"srtp,omitempty"`
	// true: SRTP keys are also sent without TLS. Anyone who sees the signaling can then decrypt the audio.
	SrtpKeysInClear *bool `json:"srtp_keys_in_clear,omitempty"`
}

// NewTrunkAlarms is part of a request.
type NewTrunkAlarms struct {
	// Maximum share of short calls among answered calls, 0 to 1. 0: no alarm.
	MaxShortCallShare *float64 `json:"max_short_call_share,omitempty"`
	// Minimum average call duration of answered calls. 0: no alarm.
	MinAcdSeconds *float64 `json:"min_acd_seconds,omitempty"`
	// Minimum answer-seizure ratio, 0 to 1. 0: no alarm.
	MinAsr *float64 `json:"min_asr,omitempty"`
	// Minimum number of calls for an alarm.
	MinCalls *int64 `json:"min_calls,omitempty"`
	// Maximum duration of a short call.
	ShortCallSeconds *int64 `json:"short_call_seconds,omitempty"`
}

// NewTrunkAuth is part of a request.
type NewTrunkAuth struct {
	// The password. Responses never contain it.
	Password *string `json:"password,omitempty"`
	// The only accepted realm; empty: any.
	Realm *string `json:"realm,omitempty"`
	// User name at the carrier.
	Username string `json:"username"`
}

// NewTrunkInbound is part of a request.
type NewTrunkInbound struct {
	// Addresses and networks from which calls are accepted. Empty: the addresses of the proxies.
	AllowedIPs []string `json:"allowed_ips,omitzero"`
	// Credentials that inbound calls must prove by digest authentication.
	Auth *NewTrunkAuth `json:"auth,omitempty"`
	// Maximum inbound calls per second. Further calls get 503 with Retry-After. 0: no limit.
	CallsPerSecond *float64 `json:"calls_per_second,omitempty"`
	// Header that distinguishes calls of this trunk from other calls from the same address. Calls without this header do not belong to the trunk. Default: every call from the address.
	Match *NewMatch `json:"match,omitempty"`
}

// TargetTest is part of a response.
type TargetTest struct {
	// Methods of the Allow header.
	Allow string `json:"allow,omitzero"`
	// SIP status of the response; 0: no response.
	Code int64 `json:"code"`
	// Why there was no response.
	Error string `json:"error,omitzero"`
	// true if the target responded.
	Reachable bool `json:"reachable"`
	// Reason phrase of the response.
	Reason string `json:"reason"`
	// Response time.
	ResponseTimeMs int64 `json:"response_time_ms"`
	// Server header of the response.
	Server string `json:"server,omitzero"`
	// host:port;transport.
	Target string `json:"target"`
}

// TrunkTest is part of a response.
type TrunkTest struct {
	// true if any target responded.
	Ok bool `json:"ok"`
	// Each target with its response.
	Targets []TargetTest `json:"targets"`
	// The id of the trunk.
	TrunkID string `json:"trunk_id"`
}
