import DefaultTheme from 'vitepress/theme-without-fonts';
import './wide.css';

export default DefaultTheme;
