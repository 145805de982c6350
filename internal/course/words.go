package course

import "fmt"

// say prints a message in the language of the terminal.
func (p *Pupil) say(english, chinese string, values ...any) {
	fmt.Fprint(p.terminal.Out, p.terminal.In.Say(english, chinese, values...))
}

// Prompts for the next line that the pupil types.

func (p *Pupil) nextPrompt() string {
	return p.terminal.In.Say("Press Enter for the next lesson, q to quit: ", "回车继续下一课，q 退出：")
}

func (p *Pupil) whyPrompt() string {
	return p.terminal.In.Say("Press Enter for the reason, q to quit: ", "回车看原因，q 退出：")
}

func (p *Pupil) restPrompt() string {
	return p.terminal.In.Say("Press Enter for things to try, q to quit: ", "回车看可以试什么，q 退出：")
}

func (p *Pupil) predictPrompt(choices int) string {
	return p.terminal.In.Say("Your prediction (1–%d; Enter to skip, q to quit): ", "你的预测（1–%d；回车跳过，q 退出）：", choices)
}

// sayTitle prints the number and the title of a lesson.
func (p *Pupil) sayTitle(l Lesson) {
	p.say("═══ Lesson %d of %d: %s\n\n", "═══ 第 %d 课，共 %d 课：%s\n\n", l.Number, len(p.lessons), l.Title)
}

// sayAnswer prints the answer, and whether the prediction was right.
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

// sayNoChoice prints that the typed line is not one of the choices.
func (p *Pupil) sayNoChoice(typed string, choices int) {
	p.say("There is no choice %q. Type a number from 1 to %d.\n", "没有 %q 这个选项：请输入 1 到 %d。\n", typed, choices)
}

// saySeen prints the output from the lesson of a command that failed.
func (p *Pupil) saySeen(seen string) {
	p.say("The command could not be run here. This is what it prints:\n\n%s", "这条命令在这里没有运行成功。它应当打印：\n\n%s", seen)
}

// sayNotStored prints that the prediction was not stored.
func (p *Pupil) sayNotStored(err error) {
	p.say("Your progress in this lesson was not saved: %v\n\n", "这一课的进度没有保存：%v\n\n", err)
}

// sayStopped prints the command that continues the course.
func (p *Pupil) sayStopped() {
	p.say("\nTo continue later: %s\n", "\n下次从这里继续：%s\n", p.terminal.ResumeCommand)
}

// sayEnd prints the number of right predictions at the end of the course.
func (p *Pupil) sayEnd(right int) {
	p.say("You have finished the course: %d of %d predictions were right. To start again: %s --reset\n",
		"课程结束：预测对了 %d 课，共 %d 课。从头再来：%s --reset\n", right, len(p.lessons), p.terminal.ResumeCommand)
}

// sayLegend prints the meanings of the marks in List.
func (p *Pupil) sayLegend() {
	p.say("✓ predicted correctly   · finished\n", "✓ 预测正确   · 学过\n")
}
