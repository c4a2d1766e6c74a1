package main_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// takeREADMEScreenshots saves the README's screenshots of the dashboard, which show the demo.
func (s *service) takeREADMEScreenshots(t *testing.T, dir string) {
	t.Helper()
	s.key = s.testKey()
	user := s.api("POST", "/v1/users", object{"name": "Ada", "role": "admin"})["id"].(string)
	campaign := s.api("GET", "/v1/campaigns", nil)["data"].([]any)[0].(object)["id"].(string)
	var call string
	for _, c := range s.api("GET", "/v1/calls?status=completed&limit=100", nil)["data"].([]any) {
		if c := c.(object); c["disposition"] == "confirmed" && c["recording_available"] == true {
			call = c["id"].(string)
		}
	}
	require.NotEmpty(t, call)
	b := startBrowser(t, os.DevNull)
	b.mustCommand("Emulation.setDeviceMetricsOverride", object{"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": false})
	b.mustCommand("Emulation.setScrollbarsHidden", object{"hidden": true})
	b.openPage(s.api("POST", "/v1/users/"+user+"/sign-in-link", nil)["url"].(string))
	b.clickAndWait("button")
	for _, p := range []struct{ name, path, theme string }{
		{"overview", "/", "light"}, {"campaign", "/campaigns/" + campaign, "light"}, {"call", "/calls/" + call, "dark"},
	} {
		b.mustCommand("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": p.theme}}})
		b.openPage("http://" + s.http + p.path)
		if p.name == "call" {
			b.evaluate(`document.querySelector("audio").play()`)
			s.await("the waveform of the recording", time.Minute, func() bool { return b.evaluate(`document.querySelector("#waveform").hidden`) == false })
		}
		shot, err := base64.StdEncoding.DecodeString(b.mustCommand("Page.captureScreenshot", object{})["data"].(string))
		require.NoError(t, err)
		small := exec.Command("ffmpeg", "-loglevel", "error", "-y", "-i", "-", "-vf", "split[a][b];[a]palettegen=max_colors=64[p];[b][p]paletteuse=dither=none",
			filepath.Join(dir, p.name+".png"))
		small.Stdin = bytes.NewReader(shot)
		output, err := small.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
}
