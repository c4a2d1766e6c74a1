package httpapi

import (
	"context"
	"net/http"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/rules"
)

// PhoneChange is a phone as it is sent; in a PATCH what is left out stays.
type PhoneChange struct {
	Extension *string           `json:"extension,omitempty" doc:"2 to 6 digits, unique among the phones and agents of the workspace." example:"1001"`
	Username  *string           `json:"username,omitempty" doc:"What the phone signs in with; the extension unless said. Unique in the installation."`
	Password  *string           `json:"password,omitempty" doc:"At least 12 letters; made where it is left out, and then shown once. Another one ends the phone's registrations."`
	Name      *string           `json:"name,omitempty" example:"Front desk"`
	Metadata  map[string]string `json:"metadata,omitempty"`
}

func (n *PhoneChange) apply(x *domain.Phone) error {
	if n.Extension != nil && x.Username == x.Extension && n.Username == nil {
		x.Username = ""
	}
	set(&x.Extension, n.Extension)
	set(&x.Username, n.Username)
	set(&x.Password, n.Password)
	set(&x.Name, n.Name)
	if n.Metadata != nil {
		x.Metadata = n.Metadata
	}
	return rules.PhoneRecord(x).Err()
}

func (s *Server) phoneRoutes() {
	const tag, path = "Phones", "/v1/phones"
	add(s, operation{
		method: http.MethodPost, path: path, id: "createPhone", credential: keyOrSession, tag: tag, status: http.StatusCreated, summary: "Let a phone register",
		about: "The phone signs in at the service's SIP address with username and password. A password that was made is shown in this answer only. A phone of the test environment is stored and never used, as its warnings tell.",
	}, s.createPhone)
	add(s, operation{method: http.MethodGet, path: path, id: "listPhones", tag: tag, summary: "List phones"},
		func(ctx context.Context, p domain.Principal, in *struct{ Paging }) (*answer[List[*domain.Phone]], error) {
			l, err := s.ports.Phones.ListPhones(ctx, p, in.page())
			return page(l, err, (*domain.Phone).Public)
		})
	add(s, operation{method: http.MethodGet, path: path + "/{id}", id: "getPhone", tag: tag, summary: "Get a phone"},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[*domain.Phone], error) {
			id, err := named(domain.PrefixPhone, in.ID)
			if err != nil {
				return nil, err
			}
			return public(s.ports.Phones.Phone(ctx, p, id))
		})
	add(s, operation{method: http.MethodPatch, path: path + "/{id}", id: "updatePhone", credential: keyOrSession, tag: tag, summary: "Change a phone", about: "Calls that are running go on."},
		func(ctx context.Context, p domain.Principal, in *struct {
			One
			Body PhoneChange
		},
		) (*answer[*domain.Phone], error) {
			id, err := named(domain.PrefixPhone, in.ID)
			if err != nil {
				return nil, err
			}
			return public(s.ports.Phones.UpdatePhone(ctx, p, id, in.Body.apply))
		})
	add(s, operation{method: http.MethodDelete, path: path + "/{id}", id: "deletePhone", credential: keyOrSession, tag: tag, summary: "Delete a phone"},
		func(ctx context.Context, p domain.Principal, in *One) (*answer[Deleted], error) {
			id, err := named(domain.PrefixPhone, in.ID)
			if err != nil {
				return nil, err
			}
			return deleted(id, "phone", s.ports.Phones.DeletePhone(ctx, p, id))
		})
}

func (s *Server) createPhone(ctx context.Context, p domain.Principal, in *struct{ Body PhoneChange }) (*answer[*domain.Phone], error) {
	x := &domain.Phone{}
	if err := in.Body.apply(x); err != nil {
		return nil, err
	}
	chosen := x.Password != ""
	made, err := s.ports.Phones.CreatePhone(ctx, p, x)
	if err != nil {
		return nil, err
	}
	shown := made.Public()
	if !chosen {
		shown.Password = made.Password
	}
	return touched(ctx, shown, nil)
}
