package course

import "fmt"

// say tells the pupil.
func (p *Pupil) say(english, chinese string, values ...any) {
	fmt.Fprint(p.terminal.Out, p.terminal.In.Say(english, chinese, values...))
}

func (p *Pupil) nextPrompt() string {
	return p.terminal.In.Say("Enter goes on with the next lesson, q stops: ", "回车继续下一课，q 退出：")
}

func (p *Pupil) whyPrompt() string {
	return p.terminal.In.Say("Enter says why, q stops: ", "回车看原因，q 退出：")
}

func (p *Pupil) restPrompt() string {
	return p.terminal.In.Say("Enter goes on with what to try, q stops: ", "回车看可以试什么，q 退出：")
}

func (p *Pupil) predictPrompt(choices int) string {
	return p.terminal.In.Say("Your prediction (1–%d; Enter skips, q stops): ", "你的预测（1–%d；回车跳过，q 退出）：", choices)
}

func (p *Pupil) sayTitle(l Lesson) {
	p.say("═══ Lesson %d of %d: %s\n\n", "═══ 第 %d 课，共 %d 课：%s\n\n", l.Number, len(p.lessons), l.Title)
}

// sayAnswer says whether the prediction was right.
func (p *Pupil) sayAnswer(l Lesson, choice int) {
	right := p.plain(l.Choices[l.Answer-1])
	switch choice {
	case skipped:
		p.say("The answer is %d: %s\n\n", "答案是 %d：%s\n\n", l.Answer, right)
	case l.Answer:
		p.say("Right: %d.\n\n", "猜对了，是 %d。\n\n", l.Answer)
	default:
		p.say("You said %d; the answer is %d: %s\n\n", "你猜的是 %d，答案是 %d：%s\n\n", choice, l.Answer, right)
	}
}

func (p *Pupil) sayNoChoice(typed string, choices int) {
	p.say("There is no choice %q: type 1 to %d.\n", "没有 %q 这个选项：请输入 1 到 %d。\n", typed, choices)
}

// saySeen shows what a command prints that could not be run.
func (p *Pupil) saySeen(seen string) {
	p.say("The command could not be run here. This is what it prints:\n\n%s", "这条命令在这里没有运行成功。它应当打印：\n\n%s", seen)
}

func (p *Pupil) sayForgotten(err error) {
	p.say("That you have been through this lesson was not written down: %v\n\n", "没有记下学过这一课：%v\n\n", err)
}

func (p *Pupil) sayStopped() {
	p.say("\nGo on another time with: %s\n", "\n下次从这里继续：%s\n", p.terminal.Again)
}

func (p *Pupil) sayEnd(right int) {
	p.say("That was the course: %d predictions of %d were right. Once more: %s --reset\n",
		"课程结束：预测对了 %d 课，共 %d 课。从头再来：%s --reset\n", right, len(p.lessons), p.terminal.Again)
}

func (p *Pupil) sayLegend() {
	p.say("✓ predicted   · been through\n", "✓ 预测正确   · 学过\n")
}
