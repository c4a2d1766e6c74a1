package alerts

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strings"

	"github.com/wneessen/go-mail"
)

// Values of SMTP.TLS, which select the encryption of the connection to the mail server.
const (
	TLSStartTLS = "starttls" // STARTTLS is required; without it nothing is sent
	TLSImplicit = "tls"      // TLS from the first byte (RFC 8314)
	TLSNone     = "none"
)

// SMTP sends emails through a mail server of the operator (RFC 5321). Its address may be in a private network.
type SMTP struct {
	Host     string
	Port     int
	From     string
	TLS      string // TLSStartTLS, TLSImplicit or TLSNone
	Username string // "": no authentication
	Password string
	Roots    *x509.CertPool // nil: the root certificates of the system
	Domain   string         // name in EHLO; "": the host name
}

// Send sends an email to all its recipients or fails. Errors after the server has accepted the email are ignored.
func (s *SMTP) Send(ctx context.Context, l Email) error {
	m, err := s.newMessage(l)
	if err != nil {
		return err
	}
	var wire net.Conn
	c, err := s.newClient(func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		dialer := net.Dialer{Timeout: sendTimeout}
		conn, err = dialer.DialContext(ctx, network, address)
		if err == nil && s.TLS == TLSImplicit {
			conn = tls.Client(conn, s.tlsConfig())
		}
		wire = conn
		return conn, err
	})
	if err != nil {
		return err
	}
	defer func() { // close the connection if the client left it open
		if wire != nil {
			_ = wire.Close()
		}
	}()
	if err = c.DialAndSendWithContext(ctx, m); err != nil && !m.IsDelivered() {
		return errors.New(failureReason(err))
	}
	return nil
}

func (s *SMTP) newMessage(l Email) (*mail.Msg, error) {
	m := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := m.From(s.From); err != nil {
		return nil, err
	}
	if err := m.To(l.To...); err != nil {
		return nil, err
	}
	_, at, _ := strings.Cut(s.From, "@")
	m.Subject(l.Subject)
	m.SetDate()
	m.SetMessageIDWithValue(l.ID + "@" + strings.Trim(at, "<> "))
	m.SetGenHeader("Auto-Submitted", "auto-generated") // no automatic replies (RFC 3834)
	m.SetBodyString(mail.TypeTextPlain, l.Body)
	return m, nil
}

func (s *SMTP) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: s.Host, RootCAs: s.Roots, MinVersion: tls.VersionTLS12}
}

func (s *SMTP) newClient(dial mail.DialContextFunc) (*mail.Client, error) {
	options := []mail.Option{
		mail.WithPort(s.Port), mail.WithTimeout(sendTimeout), mail.WithoutNoop(),
		mail.WithTLSConfig(s.tlsConfig()), mail.WithDialContextFunc(dial),
	}
	switch s.TLS {
	case TLSImplicit:
		options = append(options, mail.WithSSL())
	case TLSNone:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if s.Username != "" {
		authType := mail.SMTPAuthAutoDiscover
		if s.TLS == TLSImplicit { // the client cannot see that the connection is encrypted
			authType = mail.SMTPAuthPlainNoEnc
		}
		options = append(options, mail.WithSMTPAuth(authType), mail.WithUsername(s.Username), mail.WithPassword(s.Password))
	}
	if s.Domain != "" {
		options = append(options, mail.WithHELO(s.Domain))
	}
	return mail.NewClient(s.Host, options...)
}

// failureReason describes an error for operators. Of a mail server's reply it shows only the code and one short line.
func failureReason(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var reply *textproto.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "the mail server did not answer in time"
	case errors.As(err, &dns):
		return "the name of the mail server does not resolve"
	case errors.As(err, &cert):
		return "the certificate of the mail server is not valid or not trusted"
	case errors.As(err, &reply):
		return fmt.Sprintf("the mail server answered %d %s", reply.Code, shortLine(reply.Msg))
	case errors.As(err, &op) && op.Op == "dial":
		return "the mail server cannot be reached"
	}
	return "the email could not be sent: " + shortLine(err.Error())
}

func shortLine(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)), " ")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}
