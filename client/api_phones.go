// Code generated from the OpenAPI document of the service. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"
)

// ListPhonesQuery is what ListPhones can be asked; what is zero is left out.
type ListPhonesQuery struct {
	// Rows per page.
	Limit int64
	// next_cursor of the page before.
	Cursor string
	// Only what was created after this time.
	CreatedAfter time.Time
	// Only what was created before this time.
	CreatedBefore time.Time
}

func (q *ListPhonesQuery) values() url.Values {
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

// ListPhones: List phones.
//
// GET /v1/phones
func (c *Client) ListPhones(ctx context.Context, q ListPhonesQuery, options ...Option) (*ListPhone, error) {
	return send[ListPhone](ctx, c, "GET", "/v1/phones", q.values(), nil, options)
}

// AllPhones walks the pages of ListPhones to their end; an error is the last that comes.
func (c *Client) AllPhones(ctx context.Context, q ListPhonesQuery, options ...Option) iter.Seq2[Phone, error] {
	return pages(&q.Cursor, func() ([]Phone, *string, error) {
		l, err := c.ListPhones(ctx, q, options...)
		if err != nil {
			return nil, nil, err
		}
		return l.Data, l.NextCursor, nil
	})
}

// CreatePhone: Let a phone register.
//
// POST /v1/phones
//
// Needs an API key or a dashboard session. The phone signs in at the service's SIP address with username and password. A password that was made is shown in this answer only. A phone of the test environment is stored and never used, as its warnings tell.
func (c *Client) CreatePhone(ctx context.Context, body *NewPhone, options ...Option) (*Phone, error) {
	return send[Phone](ctx, c, "POST", "/v1/phones", nil, asJSON(body), options)
}

// DeletePhone: Delete a phone.
//
// DELETE /v1/phones/{id}
//
// Needs an API key or a dashboard session.
func (c *Client) DeletePhone(ctx context.Context, id string, options ...Option) (*Deleted, error) {
	return send[Deleted](ctx, c, "DELETE", "/v1/phones/"+url.PathEscape(id), nil, nil, options)
}

// GetPhone: Get a phone.
//
// GET /v1/phones/{id}
func (c *Client) GetPhone(ctx context.Context, id string, options ...Option) (*Phone, error) {
	return send[Phone](ctx, c, "GET", "/v1/phones/"+url.PathEscape(id), nil, nil, options)
}

// UpdatePhone: Change a phone.
//
// PATCH /v1/phones/{id}
//
// Needs an API key or a dashboard session. Calls that are running go on. A password that Callboard makes, because it is set to null, is shown in this answer only.
func (c *Client) UpdatePhone(ctx context.Context, id string, body *PhoneUpdate, options ...Option) (*Phone, error) {
	return send[Phone](ctx, c, "PATCH", "/v1/phones/"+url.PathEscape(id), nil, asJSON(body), options)
}

// ListPhone is an answer of the service, or a part of one.
type ListPhone struct {
	// The rows of this page.
	Data []Phone `json:"data"`
	// Whether there is another page.
	HasMore bool `json:"has_more"`
	// Send it as cursor for the next page; null at the end.
	NextCursor *string `json:"next_cursor"`
	// What kind of resource this is. One of list.
	Object string `json:"object"`
}

// NewPhone is sent to the service.
type NewPhone struct {
	// In the order of preference. Default: PCMU, PCMA.
	Codecs []string `json:"codecs,omitzero"`
	// How key presses are sent and received. auto: as telephone events where both ends take them, else as tones. One of auto, rfc4733, info, inband.
	Dtmf *string `json:"dtmf,omitempty"`
	// 2 to 6 digits, unique among the phones and agents of the workspace.
	Extension string `json:"extension"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Where audio goes: auto to the address in the SDP, and where that may not be reached, to the source of the phone's RTP; on always to that source; off always to the address in the SDP. Default: auto. One of auto, on, off.
	Nat *string `json:"nat,omitempty"`
	// At least 12 characters. Default: Callboard makes one and shows it once. Another one ends the phone's registrations.
	Password *string `json:"password,omitempty"`
	// Keys go in the SDP: where the phone is not registered over TLS, optional counts as off and required fails its calls. Default: off. One of off, optional, required.
	Srtp *string `json:"srtp,omitempty"`
	// Tells keys of SRTP without TLS too, where whoever sees the signalling can listen.
	SrtpKeysInClear *bool `json:"srtp_keys_in_clear,omitempty"`
	// How the phone may register and call. Default: any. One of any, udp, tcp, tls.
	Transport *string `json:"transport,omitempty"`
	// What the phone signs in with. Unique in the installation. Default: the extension.
	Username *string `json:"username,omitempty"`
}

// Phone is an answer of the service, or a part of one.
type Phone struct {
	// In the order of preference.
	Codecs []string `json:"codecs"`
	// Where it is registered now.
	Contacts []PhoneContact `json:"contacts,omitzero"`
	// When it was made.
	CreatedAt time.Time `json:"created_at"`
	// The credential that created it.
	CreatedBy *Creator `json:"created_by,omitempty"`
	// How key presses are sent and received: auto, rfc4733, info or inband.
	Dtmf string `json:"dtmf"`
	// live or test; the two never see each other.
	Environment string `json:"environment"`
	// What is dialled to reach it.
	Extension string `json:"extension"`
	// Names it; never changes and is never given again.
	ID string `json:"id"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata map[string]string `json:"metadata,omitzero"`
	// For people.
	Name string `json:"name"`
	// Where audio goes to and comes from: auto, on or off.
	Nat string `json:"nat"`
	// What kind of resource this is.
	Object string `json:"object"`
	// Only in the answer that made it.
	Password string `json:"password,omitzero"`
	// Whether audio is encrypted: off, optional or required.
	Srtp string `json:"srtp"`
	// Whether SRTP keys are sent without TLS.
	SrtpKeysInClear bool `json:"srtp_keys_in_clear"`
	// registered: it can be rung. One of registered, unregistered.
	Status string `json:"status,omitzero"`
	// How the phone may register and call: any, udp, tcp or tls.
	Transport string `json:"transport"`
	// When it was last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// What it signs in with.
	Username string `json:"username"`
	// test_environment: the phone was created with a test key and is never used.
	Warnings []Detail `json:"warnings,omitzero"`
	// Whose it is.
	WorkspaceID string `json:"workspace_id"`
}

// PhoneContact is an answer of the service, or a part of one.
type PhoneContact struct {
	// Where its messages come from, and where it is rung.
	Address string `json:"address"`
	// When it ends.
	ExpiresAt time.Time `json:"expires_at"`
	// Its own wish, 0 to 1.
	Priority float64 `json:"priority"`
	// When it registered there.
	Since time.Time `json:"since"`
	// udp, tcp or tls.
	Transport string `json:"transport"`
	// What it calls itself.
	UserAgent string `json:"user_agent,omitzero"`
}

// PhoneUpdate is sent to the service.
type PhoneUpdate struct {
	// In the order of preference. Default: PCMU, PCMA.
	Codecs Optional[[]string] `json:"codecs,omitzero"`
	// How key presses are sent and received. auto: as telephone events where both ends take them, else as tones. One of auto, rfc4733, info, inband.
	Dtmf Optional[string] `json:"dtmf,omitzero"`
	// 2 to 6 digits, unique among the phones and agents of the workspace.
	Extension *string `json:"extension,omitempty"`
	// Yours: up to 50 keys with text. Shown in answers, never read by the service.
	Metadata Optional[map[string]*string] `json:"metadata,omitzero"`
	// For people.
	Name *string `json:"name,omitempty"`
	// Where audio goes: auto to the address in the SDP, and where that may not be reached, to the source of the phone's RTP; on always to that source; off always to the address in the SDP. Default: auto. One of auto, on, off.
	Nat Optional[string] `json:"nat,omitzero"`
	// At least 12 characters. Default: Callboard makes one and shows it once. Another one ends the phone's registrations.
	Password Optional[string] `json:"password,omitzero"`
	// Keys go in the SDP: where the phone is not registered over TLS, optional counts as off and required fails its calls. Default: off. One of off, optional, required.
	Srtp Optional[string] `json:"srtp,omitzero"`
	// Tells keys of SRTP without TLS too, where whoever sees the signalling can listen.
	SrtpKeysInClear Optional[bool] `json:"srtp_keys_in_clear,omitzero"`
	// How the phone may register and call. Default: any. One of any, udp, tcp, tls.
	Transport Optional[string] `json:"transport,omitzero"`
	// What the phone signs in with. Unique in the installation. Default: the extension.
	Username Optional[string] `json:"username,omitzero"`
}
