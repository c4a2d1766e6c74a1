package phones_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/registrar"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/pebbletest"
	"github.com/callboard/callboard/service/phones"
)

// noContacts is a fake registrar without registered phones.
type noContacts struct{}

func (noContacts) ReloadPhones(context.Context, string) error { return nil }
func (noContacts) ListContacts(context.Context, string) (registrar.ContactList, error) {
	return registrar.ContactList{}, nil
}

func (noContacts) FindPhone(context.Context, string, registrar.FindPhone) (registrar.PhoneFound, error) {
	return registrar.PhoneFound{}, nil
}

func TestPhoneExtensionsAndUsernamesAreUnique(t *testing.T) {
	t.Parallel()
	s := phones.New(phones.Config{Store: pebbletest.Open(t), Count: func(string) int { return 0 }, Registrar: noContacts{}})
	ctx, p := t.Context(), domain.Principal{WorkspaceID: "ws_1", Environment: domain.Live}
	one, err := s.CreatePhone(ctx, p, &domain.Phone{Extension: "1000", Username: "one"})
	require.NoError(t, err)
	assert.NotEmpty(t, one.Password)
	_, err = s.CreatePhone(ctx, p, &domain.Phone{Extension: "1000", Username: "two"})
	assert.Equal(t, domain.CodeAlreadyExists, domain.CodeOf(err))
	_, err = s.CreatePhone(ctx, domain.Principal{WorkspaceID: "ws_2", Environment: domain.Live}, &domain.Phone{Extension: "1000", Username: "one"})
	assert.Equal(t, domain.CodeAlreadyExists, domain.CodeOf(err), "a username is unique in the installation")

	_, err = s.UpdatePhone(ctx, p, one.ID, func(x *domain.Phone) error { x.Extension = "1001"; return nil })
	require.NoError(t, err)
	_, err = s.CreatePhone(ctx, p, &domain.Phone{Extension: "1000", Username: "two"})
	require.NoError(t, err, "a changed phone releases its extension")

	_, isPhone, err := s.FindRegistered(ctx, p, "1001")
	assert.True(t, isPhone)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(err), "the phone is not registered")
	_, isPhone, err = s.FindRegistered(ctx, p, "+12025550170")
	require.NoError(t, err)
	assert.False(t, isPhone)
}
